import { findCondition } from "@capstan/apimachinery";
import { conditionsOf, IPAddress, IPAddressClaim } from "@capstan/capi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { IPClaim } from "../kinds/ip-claim.ts";
import { IPPool } from "../kinds/ip-pool.ts";
import { Fleet } from "../testing/fleet.ts";

/** Claims of Cluster API on IPPools, in addition to the pools' own. */
let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.restartManager();
  const pools = [{ start: "198.51.100.1", end: "198.51.100.2" }];
  await fleet.create(IPPool, "two", { namePrefix: "two", pools, prefix: 24, gateway: "198.51.100.254" });
});
afterEach(() => fleet.close());

const claim = (name: string, pool = "two", apiGroup = IPPool.group, kind = IPPool.kind): Promise<void> =>
  fleet.create(IPAddressClaim, name, { poolRef: { apiGroup, kind, name: pool } });
const get = async (name: string): Promise<IPAddressClaim | undefined> =>
  await fleet.client.get(IPAddressClaim, { namespace: "default", name });
const address = async (name: string): Promise<IPAddress | undefined> =>
  await fleet.client.get(IPAddress, { namespace: "default", name });
const ready = async (name: string): Promise<string> => {
  const { status, reason, message } = findCondition(conditionsOf((await get(name)) ?? {}), "Ready") ?? {};
  return `${status} ${reason}: ${message}`;
};
const remove = (name: string): Promise<unknown> =>
  fleet.client.delete({ kind: IPAddressClaim, namespace: "default", name });

test("gets an address with prefix and gateway, held by finalizers, owned by claim and pool", async () => {
  await claim("a");
  await fleet.pass(2);
  expect(await ready("a")).toBe("True Ready: ");
  expect((await get("a"))?.status?.addressRef).toEqual({ name: "a" });
  expect((await get("a"))?.metadata.finalizers).toEqual(["ipam.metal3.io/ipaddressclaim"]);
  const given = await address("a");
  expect(given?.spec).toEqual({
    claimRef: { name: "a" },
    poolRef: { apiGroup: IPPool.group, kind: IPPool.kind, name: "two" },
    address: "198.51.100.1",
    prefix: 24,
    gateway: "198.51.100.254",
  });
  expect(given?.metadata.finalizers).toEqual(["ipam.metal3.io/ipaddress"]);
  expect(given?.metadata.ownerReferences?.map(({ kind, controller }) => [kind, controller])).toEqual([
    ["IPAddressClaim", true],
    ["IPPool", undefined],
  ]);
  await remove("a");
  await fleet.pass(2);
  expect([await get("a"), await address("a")]).toEqual([undefined, undefined]);
});

test("both kinds of claims share the pool; exhaustion is reported, and the claim is served as soon as an address returns", async () => {
  await fleet.create(IPClaim, "own", { pool: { name: "two", namespace: "default" } });
  await claim("a");
  await fleet.pass(2);
  await claim("b");
  await fleet.pass(2);
  const text = "Exhausted IP Pools: IPPool two has no free address left; add addresses or delete claims";
  expect(await ready("b")).toBe(`False PoolExhausted: ${text}`);
  expect(fleet.told("PoolExhausted")).toEqual([`Warning PoolExhausted IPAddressClaim/b: ${text}`]);
  await fleet.client.delete({ kind: IPClaim, namespace: "default", name: "own" });
  await fleet.pass(2);
  expect(await ready("b")).toBe("True Ready: ");
  const all = [(await address("a"))?.spec.address, (await address("b"))?.spec.address];
  expect(new Set(all)).toEqual(new Set(["198.51.100.1", "198.51.100.2"]));
});

test("a missing pool is reported and waited for", async () => {
  await claim("a", "late");
  await fleet.pass(2);
  expect(await ready("a")).toBe("False AllocationFailed: IPPool late does not exist; create it");
  await fleet.create(IPPool, "late", { namePrefix: "late", pools: [{ start: "203.0.113.5", end: "203.0.113.5" }] });
  await fleet.pass(2);
  expect((await address("a"))?.spec.address).toBe("203.0.113.5");
});

test("claims on pools of others are left alone", async () => {
  await claim("a", "two", "ipam.cluster.x-k8s.io", "InClusterIPPool");
  await fleet.pass(5);
  expect((await get("a"))?.status).toBeUndefined();
  expect((await get("a"))?.metadata.finalizers).toBeUndefined();
});

test("a restart changes no address", async () => {
  await claim("a");
  await fleet.pass(2);
  await fleet.restartManager();
  await claim("b");
  await fleet.pass(3);
  expect([(await address("a"))?.spec.address, (await address("b"))?.spec.address]).toEqual([
    "198.51.100.1",
    "198.51.100.2",
  ]);
});

test("an IPClaim has its finalizer from the start, or gets it from the controller, and gives its address back", async () => {
  await fleet.create(IPClaim, "own", { pool: { name: "two", namespace: "default" } });
  const own = async () => await fleet.client.get(IPClaim, { namespace: "default", name: "own" });
  expect((await own())?.metadata.finalizers).toEqual(["ipclaim.ipam.metal3.io"]);
  await fleet.pass(2);
  expect((await own())?.status?.address?.name).toBe("two-198-51-100-1");
  await fleet.client.delete({ kind: IPClaim, namespace: "default", name: "own" });
  await fleet.pass(2);
  expect([await own(), fleet.addresses().size]).toEqual([undefined, 0]);
  // As without admission: the controller writes it.
  await fleet.stopManager();
  await fleet.create(IPClaim, "own", { pool: { name: "two", namespace: "default" } });
  await fleet.world.server.internal.update(
    { group: IPPool.group, plural: "ipclaims" },
    "default",
    "own",
    "stranger",
    (claim) => {
      claim.metadata.finalizers = [];
    },
  );
  await fleet.restartManager();
  await fleet.pass(2);
  expect((await own())?.metadata.finalizers).toEqual(["ipclaim.ipam.metal3.io"]);
  expect(fleet.addresses().size).toBe(1);
});
