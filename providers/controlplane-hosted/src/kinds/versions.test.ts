import { conversionCases } from "@capstan/capi/testing";
import { expect, test } from "vitest";
import { HostedControlPlane } from "./hosted-control-plane.ts";
import { HostedControlPlaneTemplate } from "./hosted-control-plane-template.ts";

const KINDS = [HostedControlPlane, HostedControlPlaneTemplate];

for (const definition of KINDS) {
  for (const { name, run } of conversionCases(definition)) test(name, run);
}

test("v1beta1 has the status fields of its contract", () => {
  const convert = HostedControlPlane.versions[1]?.convert ?? expect.fail("not served as v1beta1");
  const lastTransitionTime = "2026-01-02T03:04:05Z";
  const available = { type: "Available", status: "True", reason: "Available", message: "", lastTransitionTime };
  const old = convert.fromStored({
    apiVersion: HostedControlPlane.apiVersion,
    kind: "HostedControlPlane",
    metadata: { name: "c1", namespace: "default" },
    spec: { version: "v1.34.4", replicas: 3 },
    status: {
      initialization: { controlPlaneInitialized: true },
      externalManagedControlPlane: true,
      replicas: 3,
      readyReplicas: 2,
      availableReplicas: 2,
      upToDateReplicas: 1,
      conditions: [available],
    },
  });
  expect(old).toMatchObject({
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta1",
    status: {
      initialized: true,
      ready: true,
      externalManagedControlPlane: true,
      readyReplicas: 2,
      updatedReplicas: 1,
      unavailableReplicas: 1,
      conditions: [available],
      v1beta2: { conditions: [available] },
    },
  });
});
