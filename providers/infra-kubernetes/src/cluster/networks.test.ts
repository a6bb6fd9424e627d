import type { Unstructured } from "@capstan/apimachinery";
import { afterEach, expect, test } from "vitest";
import { World } from "../testing/world.ts";

let world: World;
afterEach(() => world.close());

/** Kubernetes serves this kind since 1.33; the embedded API does not. */
const SERVICE_CIDRS: Unstructured = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "servicecidrs.networking.k8s.io",
    annotations: { "api-approved.kubernetes.io": "unapproved, for tests" },
  },
  spec: {
    group: "networking.k8s.io",
    scope: "Cluster",
    names: { plural: "servicecidrs", singular: "servicecidr", kind: "ServiceCIDR", listKind: "ServiceCIDRList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

const start = async (services: string): Promise<void> => {
  world = await World.start({ core: { clusterNetwork: { services: { cidrBlocks: [services] } } } });
};

async function expectOverlap(text: string): Promise<void> {
  await world.machine("m1");
  expect(await world.condition()).toMatchObject({
    reason: "NetworksOverlap",
    message: expect.stringContaining(text) as string,
  });
  expect(await world.pod()).toBeUndefined();
}

test("a Service network inside the outer cluster's is refused, as its ServiceCIDRs show", async () => {
  await start("10.96.128.0/17");
  await world.outer.server.registerCrds([SERVICE_CIDRS]);
  await world.client.create<Unstructured>({
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: "kubernetes" },
    spec: { cidrs: ["10.96.0.0/16"] },
  });
  await expectOverlap(
    "spec.clusterNetwork.services 10.96.128.0/17 of the Cluster overlaps 10.96.0.0/16, service network of the outer cluster",
  );
});

test("without ServiceCIDRs the address of the outer cluster's DNS shows its Service network", async () => {
  await start("10.96.0.8/29");
  await world.client.create<Unstructured>({
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: "kube-system", name: "kube-dns" },
    spec: { clusterIP: "10.96.0.10", ports: [{ port: 53 }] },
  });
  await expectOverlap("overlaps 10.96.0.10/32, address of Service kube-system/kube-dns");
});

test("a network with the address of an outer node is refused", async () => {
  await start("192.0.2.0/24");
  const node = await world.client.create<Unstructured>({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "outer-1" },
  });
  await world.client.patchStatus(node, { status: { addresses: [{ type: "InternalIP", address: "192.0.2.7" }] } });
  await world.pass(31);
  await expectOverlap("overlaps 192.0.2.7/32, address of node outer-1");
});
