import { Cluster, Machine } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { BareMetalHost } from "@capstan/infra-metal3";
import { Pod } from "@capstan/workloads";
import { afterEach, describe, expect, test, vi } from "vitest";
import { cluster, clusterKind, infraCluster, metaCluster, type Provider, workers } from "./manifests.ts";
import { Plane } from "./plane.ts";

vi.setConfig({ testTimeout: 120_000 });

const PAIRS: [Provider, Provider][] = [
  ["memory", "byoh"],
  ["memory", "metal3"],
  ["byoh", "metal3"],
  ["kubernetes", "memory"],
  ["kubernetes", "byoh"],
  ["kubernetes", "metal3"],
  ["kvm", "memory"],
  ["kvm", "byoh"],
  ["kvm", "metal3"],
  ["kvm", "kubernetes"],
];
const ID = {
  memory: /^memory:\/\//,
  byoh: /^byoh:\/\//,
  metal3: /^metal3:\/\//,
  kubernetes: /^kubernetes:\/\//,
  kvm: /^kvm:\/\//,
};

let plane: Plane;
afterEach(() => plane.close());

async function checkBoth(pair: readonly Provider[]): Promise<void> {
  await plane.available("c1", 2);
  const ids = (await plane.list(Machine)).map(({ spec }) => spec.providerID ?? "").sort();
  for (const provider of pair) expect(ids.some((id) => ID[provider].test(id))).toBe(true);
  const nodes = (await plane.list(Machine)).map(({ status }) => status?.nodeRef?.name);
  expect(new Set(nodes).size).toBe(2);
  await plane.client.delete({
    kind: Machine,
    namespace: "default",
    name: (await plane.list(Machine))[0]?.metadata.name ?? "",
  });
  await plane.pass(1_000);
  await plane.available("c1", 2);
}

async function checkGone(): Promise<void> {
  await plane.client.delete({ kind: Cluster, namespace: "default", name: "c1" });
  await plane.gone("c1");
  await plane.pass(5_000);
  expect(await plane.list(Machine)).toEqual([]);
  expect(await plane.list(Pod)).toEqual([]);
  for (const host of await plane.list(ByoHost)) expect(host.spec).toEqual({});
  for (const host of await plane.list(BareMetalHost)) {
    expect(host.spec.consumerRef).toBeUndefined();
    expect(host.spec.image).toBeUndefined();
    expect(host.status?.provisioning.state).toBe("available");
    expect(host.status?.poweredOn).toBe(false);
  }
}

describe.each(PAIRS)("one cluster with machines of %s and %s", (first, second) => {
  test("under a MetaCluster: both join, are replaced and give everything back", async () => {
    plane = await Plane.start({ own: 2, metal: 2, pods: [first, second].includes("kubernetes") });
    await plane.apply(
      cluster("c1", "MetaCluster") +
        metaCluster("c1", [clusterKind(first), clusterKind(second)]) +
        infraCluster(first, "c1") +
        infraCluster(second, "c1") +
        workers("c1", first, 1) +
        workers("c1", second, 1),
    );
    await checkBoth([first, second]);
    await checkGone();
  });

  test("adopts the second one in addition to the first, and deletes it with that", async () => {
    plane = await Plane.start({ own: 2, metal: 2, pods: [first, second].includes("kubernetes") });
    await plane.apply(
      cluster("c1", clusterKind(first)) +
        infraCluster(first, "c1") +
        infraCluster(second, "c1") +
        workers("c1", first, 1) +
        workers("c1", second, 1),
    );
    await checkBoth([first, second]);
    await checkGone();
  });
});
