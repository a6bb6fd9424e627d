import { conversionCases } from "@capstan/capi/testing";
import { ByoHost } from "@capstan/host-agent";
import { expect, test } from "vitest";
import { BootstrapKubeconfig } from "./bootstrap-kubeconfig.ts";
import { ByoCluster, ByoClusterTemplate } from "./byo-cluster.ts";
import { ByoMachine, ByoMachineTemplate } from "./byo-machine.ts";
import { K8sInstallerConfig, K8sInstallerConfigTemplate } from "./k8s-installer-config.ts";

const KINDS = [
  ByoHost,
  ByoCluster,
  ByoClusterTemplate,
  ByoMachine,
  ByoMachineTemplate,
  K8sInstallerConfig,
  K8sInstallerConfigTemplate,
  BootstrapKubeconfig,
];

for (const definition of KINDS) {
  for (const { name, run } of conversionCases(definition)) test(name, run);
}

test("v1beta1 of a ByoHost has the claim and the conditions where today's tools look for them", () => {
  const convert = ByoHost.versions[1]?.convert ?? expect.fail("not served as v1beta1");
  const machineRef = { apiVersion: "x/v1", kind: "ByoMachine", namespace: "default", name: "m1", uid: "u1" };
  const lastTransitionTime = "2026-01-02T03:04:05Z";
  const ready = { type: "Ready", status: "False", reason: "BootstrapFailed", message: "no", lastTransitionTime };
  const old = convert.fromStored({
    apiVersion: ByoHost.apiVersion,
    kind: "ByoHost",
    metadata: { name: "h1", namespace: "default" },
    spec: { machineRef, bootstrapSecret: { name: "s", namespace: "default" } },
    status: { conditions: [ready] },
  });
  expect(old).toMatchObject({
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
    spec: { bootstrapSecret: { kind: "Secret", name: "s", namespace: "default" } },
    status: { machineRef, conditions: [{ ...ready, severity: "Info" }] },
  });
});
