import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, GlobalInClusterIPPool, InClusterIPPool, IPAddress, IPAddressClaim } from "@capstan/capi";
import { afterEach, describe, expect, test } from "vitest";
import { addressesOf, claim, closePlanes, pool, ready, startIpam } from "../testing/ipam.ts";
import { NAMESPACE } from "../testing/objects.ts";
import { crashAtEveryWrite } from "../testing/plane.ts";

afterEach(closePlanes);

const SMALL = { addresses: ["10.0.0.10-10.0.0.12"], prefix: 24, gateway: "10.0.0.1" };

describe("in-cluster IPAM", () => {
  test("gives each claim an address of its pool, with owners, finalizers and numbers", async () => {
    const plane = await startIpam();
    await plane.user.create(pool("p", SMALL));
    await plane.user.create(claim("a"));
    await plane.user.create(claim("b"));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toEqual({ a: "10.0.0.10", b: "10.0.0.11" });
    const address = await plane.user.get(IPAddress, { namespace: NAMESPACE, name: "a" });
    expect(address).toMatchObject({
      metadata: {
        finalizers: ["ipam.cluster.x-k8s.io/ProtectAddress"],
        ownerReferences: [
          { kind: "IPAddressClaim", name: "a", controller: true, blockOwnerDeletion: true },
          { kind: "InClusterIPPool", name: "p", controller: false, blockOwnerDeletion: true },
        ],
      },
      spec: { address: "10.0.0.10", prefix: 24, gateway: "10.0.0.1", claimRef: { name: "a" } },
    });
    const found = await plane.user.get(IPAddressClaim, { namespace: NAMESPACE, name: "a" });
    expect(found?.status?.addressRef).toEqual({ name: "a" });
    expect(await ready(plane, "a")).toMatchObject({ status: "True" });
    const counted = await plane.user.get(InClusterIPPool, { namespace: NAMESPACE, name: "p" });
    expect(counted?.status?.ipAddresses).toEqual({ total: 3, free: 1, used: 2, outOfRange: 0 });
    const { writes } = plane;
    await plane.clock.advance(600_000);
    expect(plane.writes).toBe(writes);
    expect(plane.failures).toEqual([]);
  });

  test("an empty pool is said so, and the next address that returns goes to who waited first", async () => {
    const plane = await startIpam();
    await plane.user.create(pool("p", SMALL));
    for (const name of ["a", "b", "c", "d", "e"]) {
      await plane.user.create(claim(name));
      await plane.settle();
    }
    expect(await ready(plane, "d")).toMatchObject({ status: "False", reason: "PoolExhausted" });
    await plane.user.delete(claim("b"));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toEqual({ a: "10.0.0.10", c: "10.0.0.12", d: "10.0.0.11" });
    expect(await ready(plane, "e")).toMatchObject({ reason: "PoolExhausted" });
    await plane.user.patch(pool("p", {}), { spec: { addresses: ["10.0.0.10-10.0.0.20"] } });
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toMatchObject({ e: "10.0.0.13" });
    expect(plane.failures).toEqual([]);
  });

  test("a returned address rests for the grace period", async () => {
    const plane = await startIpam();
    await plane.user.create(pool("p", { ...SMALL, addresses: ["10.0.0.10"], addressReuseGracePeriodSeconds: 60 }));
    await plane.user.create(claim("a"));
    await plane.settle();
    await plane.user.delete(claim("a"));
    await plane.user.create(claim("b"));
    await plane.clock.advance(55_000);
    expect(await addressesOf(plane)).toEqual({ a: "10.0.0.10" });
    await plane.clock.advance(10_000);
    expect(await addressesOf(plane)).toEqual({ b: "10.0.0.10" });
    expect(await plane.user.get(IPAddressClaim, { namespace: NAMESPACE, name: "a" })).toBeUndefined();
  });

  test("pools that are missing, wrong or being deleted are named in the condition", async () => {
    const plane = await startIpam();
    await plane.user.create(claim("a"));
    await plane.settle();
    expect(await ready(plane, "a")).toMatchObject({
      reason: "PoolNotReady",
      message: "InClusterIPPool p does not exist; create it",
    });
    await plane.user.create(pool("p", { addresses: ["10.0.0.1", "fd00::1"], prefix: 24 }));
    await plane.clock.advance(2000);
    expect((await ready(plane, "a"))?.message).toContain("one IP family");
    await plane.user.patch(pool("p", {}), { spec: { addresses: ["10.0.0.7"] } });
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toEqual({ a: "10.0.0.7" });
    await plane.user.delete(pool("p", {}));
    await plane.user.create(claim("b"));
    await plane.clock.advance(2000);
    expect(await ready(plane, "b")).toMatchObject({ message: "InClusterIPPool p is being deleted" });
    for (const name of ["a", "b"]) await plane.user.delete(claim(name));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toEqual({});
    expect(await plane.user.get(InClusterIPPool, { namespace: NAMESPACE, name: "p" })).toBeUndefined();
  });

  test("a global pool serves all namespaces; claims of other providers and paused Clusters are left alone", async () => {
    const plane = await startIpam();
    await plane.user.create(pool("p", SMALL, GlobalInClusterIPPool));
    await plane.user.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } } as Unstructured);
    const global = { kind: "GlobalInClusterIPPool" };
    await plane.user.create(claim("a", "p", global));
    await plane.user.create(claim("b", "p", { ...global, namespace: "other" }));
    await plane.user.create(claim("foreign", "p", { kind: "OtherPool" }));
    await plane.user.create(claim("waiting", "p", { ...global, spec: { clusterName: "c" } }));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toEqual({ a: "10.0.0.10", b: "10.0.0.11" });
    const cluster = {
      apiVersion: Cluster.apiVersion,
      kind: Cluster.kind,
      metadata: { namespace: NAMESPACE, name: "c" },
      spec: { paused: true },
    };
    await plane.user.create(cluster as Unstructured);
    await plane.settle();
    expect(Object.keys(await addressesOf(plane))).toHaveLength(2);
    await plane.user.patch(cluster as Unstructured, { spec: { paused: false } });
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toMatchObject({ waiting: "10.0.0.12" });
  });

  test("ends the same when killed after any write: no address twice, none lost", async () => {
    const writes = await crashAtEveryWrite({
      start: startIpam,
      act: async (plane) => {
        await plane.user.create(pool("p", { ...SMALL, addresses: ["10.0.0.10-10.0.0.11"] }));
        await plane.user.create(claim("a"));
        await plane.user.create(claim("b"));
        await plane.user.create(claim("c"));
        await plane.settle();
        await plane.user.delete(claim("a"));
      },
      wait: (plane) => plane.clock.advance(3000),
      state: async (plane) => ({
        addresses: Object.values(await addressesOf(plane)).sort(),
        claims: (await plane.user.list(IPAddressClaim, {})).items.map(({ metadata }) => metadata.name),
        counts: (await plane.user.get(InClusterIPPool, { namespace: NAMESPACE, name: "p" }))?.status?.ipAddresses,
      }),
      check: (actual, expected, k) => expect(actual, `crashed after write ${k}`).toEqual(expected),
    });
    expect(writes).toBeGreaterThan(8);
  });

  test("thousands of claims on a /16 get an address each, the last as fast as the first", {
    timeout: 60_000,
  }, async () => {
    const plane = await startIpam();
    await plane.user.create(pool("p", { addresses: ["10.1.0.0/16"], prefix: 16 }));
    const batches: number[] = [];
    for (let batch = 0; batch < 6; batch++) {
      const before = process.cpuUsage();
      for (let i = 0; i < 400; i++) await plane.user.create(claim(`c${batch}-${i}`));
      await plane.clock.advance(1500);
      const { user, system } = process.cpuUsage(before);
      batches.push(user + system);
    }
    const all = Object.values(await addressesOf(plane));
    expect(new Set(all).size).toBe(2400);
    expect(all).toHaveLength(2400);
    expect(Math.min(...batches.slice(4))).toBeLessThan(3 * Math.min(...batches.slice(0, 4)));
  });
});
