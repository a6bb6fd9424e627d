import type { Unstructured } from "@capstan/apimachinery";
import { GlobalInClusterPrefixPool, InClusterPrefixPool, IPAddress, IPAddressClaim } from "@capstan/capi";
import { afterEach, describe, expect, test } from "vitest";
import { addressesOf, claim, closePlanes, pool, ready, startIpam } from "../testing/ipam.ts";
import { NAMESPACE } from "../testing/objects.ts";
import { crashAtEveryWrite, type Plane } from "../testing/plane.ts";

afterEach(closePlanes);

/** Four prefixes of length 64. */
const SMALL = { prefixes: ["fd00::/62"], gateway: "fe80::1" };
const prefixPool = (spec: object): Unstructured => pool("p", spec, InClusterPrefixPool);
const prefixClaim = (name: string): Unstructured => claim(name, "p", { kind: "InClusterPrefixPool" });

async function counts(plane: Plane) {
  return (await plane.user.get(InClusterPrefixPool, { namespace: NAMESPACE, name: "p" }))?.status?.ipAddresses;
}

describe("pools of prefixes", () => {
  test("give each claim a network of its own, with the gateway that is theirs to name", async () => {
    const plane = await startIpam();
    await plane.user.create(prefixPool({ ...SMALL, gateway: "fd00::1" }));
    await plane.user.create(prefixClaim("a"));
    await plane.user.create(prefixClaim("b"));
    await plane.clock.advance(2000);
    const address = await plane.user.get(IPAddress, { namespace: NAMESPACE, name: "a" });
    expect(address).toMatchObject({
      metadata: {
        finalizers: ["ipam.cluster.x-k8s.io/ProtectAddress"],
        ownerReferences: [
          { kind: "IPAddressClaim", name: "a", controller: true },
          { kind: "InClusterPrefixPool", name: "p", controller: false, blockOwnerDeletion: true },
        ],
      },
      spec: { address: "fd00::", prefix: 64, gateway: "fd00::1", claimRef: { name: "a" } },
    });
    expect(await addressesOf(plane)).toEqual({ a: "fd00::", b: "fd00:0:0:1::" });
    expect(await ready(plane, "b")).toMatchObject({ status: "True" });
    expect(await counts(plane)).toEqual({ total: 4, free: 2, used: 2, outOfRange: 0 });
    const { writes } = plane;
    await plane.clock.advance(600_000);
    expect(plane.writes).toBe(writes);
    expect(plane.failures).toEqual([]);
  });

  test("an empty pool is said so; what returns, and what is added, goes to those that wait", async () => {
    const plane = await startIpam();
    await plane.user.create(prefixPool({ prefixes: ["fd00::/127"], allocationPrefixLength: 128 }));
    for (const name of ["a", "b", "c", "d"]) {
      await plane.user.create(prefixClaim(name));
      await plane.settle();
    }
    expect(await ready(plane, "c")).toMatchObject({
      status: "False",
      reason: "PoolExhausted",
      message: expect.stringContaining("InClusterPrefixPool p has no free prefix left; add prefixes"),
    });
    await plane.user.delete(prefixClaim("a"));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toEqual({ b: "fd00::1", c: "fd00::" });
    await plane.user.patch(prefixPool({}), { spec: { prefixes: ["fd00::/126"] } });
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toMatchObject({ d: "fd00::2" });
    expect(plane.failures).toEqual([]);
  });

  test("what somebody holds in another length keeps all of the networks it touches", async () => {
    const plane = await startIpam();
    const restored = (name: string, address: string, prefix: number): Unstructured => ({
      apiVersion: IPAddress.apiVersion,
      kind: IPAddress.kind,
      metadata: { namespace: NAMESPACE, name },
      spec: {
        claimRef: { name },
        poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterPrefixPool", name: "p" },
        address,
        prefix,
      },
    });
    await plane.user.create(restored("wide", "fd00::", 63));
    await plane.user.create(restored("narrow", "fd00:0:0:2::5", 128));
    await plane.user.create(prefixPool(SMALL));
    await plane.user.create(prefixClaim("a"));
    await plane.user.create(prefixClaim("b"));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toMatchObject({ a: "fd00:0:0:3::" });
    expect(await ready(plane, "b")).toMatchObject({ reason: "PoolExhausted" });
    expect(await counts(plane)).toEqual({ total: 4, free: 0, used: 3, outOfRange: 2 });
    await plane.user.delete(restored("narrow", "", 0));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toMatchObject({ b: "fd00:0:0:2::" });
    await plane.user.delete(restored("wide", "", 0));
    await plane.user.create(prefixClaim("c"));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toMatchObject({ c: "fd00::" });
    expect(await counts(plane)).toEqual({ total: 4, free: 1, used: 3, outOfRange: 0 });
  });

  test("a global pool serves all namespaces", async () => {
    const plane = await startIpam();
    await plane.user.create(pool("p", SMALL, GlobalInClusterPrefixPool));
    await plane.user.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } } as Unstructured);
    const global = { kind: "GlobalInClusterPrefixPool" };
    await plane.user.create(claim("a", "p", global));
    await plane.user.create(claim("b", "p", { ...global, namespace: "other" }));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toEqual({ a: "fd00::", b: "fd00:0:0:1::" });
    const found = await plane.user.get(GlobalInClusterPrefixPool, { name: "p" });
    expect(found?.status?.ipAddresses).toEqual({ total: 4, free: 2, used: 2, outOfRange: 0 });
  });

  test("a pool that is wrong or being deleted is named in the condition, and goes with its last prefix", async () => {
    const plane = await startIpam();
    await plane.user.create(prefixPool({ prefixes: ["fd00::/80"] }));
    await plane.user.create(prefixClaim("a"));
    await plane.clock.advance(2000);
    expect((await ready(plane, "a"))?.message).toContain("spec.prefixes[0]: fd00::/80 is longer");
    await plane.user.patch(prefixPool({}), { spec: { prefixes: ["fd00::/62"] } });
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toEqual({ a: "fd00::" });
    await plane.user.delete(prefixPool({}));
    await plane.clock.advance(2000);
    const held = await plane.user.get(InClusterPrefixPool, { namespace: NAMESPACE, name: "p" });
    expect(held?.status?.conditions?.[0]?.message).toContain("1 prefixes are released");
    await plane.user.delete(prefixClaim("a"));
    await plane.clock.advance(2000);
    expect(await addressesOf(plane)).toEqual({});
    expect(await plane.user.get(InClusterPrefixPool, { namespace: NAMESPACE, name: "p" })).toBeUndefined();
  });

  test("end the same when killed after any write: no prefix twice, none lost", async () => {
    const writes = await crashAtEveryWrite({
      start: startIpam,
      act: async (plane) => {
        await plane.user.create(prefixPool({ prefixes: ["fd00::/63"] }));
        for (const name of ["a", "b", "c"]) await plane.user.create(prefixClaim(name));
        await plane.settle();
        await plane.user.delete(prefixClaim("a"));
      },
      wait: (plane) => plane.clock.advance(3000),
      state: async (plane) => ({
        addresses: Object.values(await addressesOf(plane)).sort(),
        claims: (await plane.user.list(IPAddressClaim, {})).items.map(({ metadata }) => metadata.name),
        counts: await counts(plane),
      }),
      check: (actual, expected, k) => expect(actual, `crashed after write ${k}`).toEqual(expected),
    });
    expect(writes).toBeGreaterThan(8);
  });
});
