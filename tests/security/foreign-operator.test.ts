import type { Unstructured } from "@capstan/apimachinery";
import { BareMetalHost } from "@capstan/infra-metal3";
import { simulatedHosts } from "@capstan/manager";
import { afterEach, expect, test, vi } from "vitest";
import { Plane } from "../simulation/plane.ts";
import { attempt, TENANT, tenantOf } from "./tenant.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Attack: a Deployment of the tenant is called as upstream's baremetal-operator, so that all hosts are left to it. */
const VICTIM = "victim";
const OPERATOR = "baremetal-operator-controller-manager";

let plane: Plane;
afterEach(() => plane.close());

test("a Deployment with the name of another operator does not stop the hosts of other namespaces", async () => {
  plane = await Plane.start({ own: 0, metal: 0, namespace: VICTIM });
  const mallory = await tenantOf(plane);
  const labels = { app: "a" };
  const said = await attempt(mallory, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace: TENANT, name: OPERATOR },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { serviceAccountName: "default", containers: [{ name: "a", image: "a" }] },
      },
    },
  } as Unstructured);
  expect(said).toBe("created");
  // The operator is looked for every five minutes.
  await plane.pass(6 * 60_000);
  for (const host of simulatedHosts(VICTIM, { metal3: 1 })) await plane.client.create(host);
  await plane.pass(120_000);
  const host = await plane.get(BareMetalHost, "metal-1");
  expect(host.status?.provisioning.state).toBe("available");
});
