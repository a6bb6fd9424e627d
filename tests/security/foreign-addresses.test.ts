import type { Unstructured } from "@capstan/apimachinery";
import { GlobalInClusterIPPool, GlobalInClusterPrefixPool, IPAddress, IPAddressClaim } from "@capstan/capi";
import { afterEach, expect, test, vi } from "vitest";
import { Plane } from "../simulation/plane.ts";
import { attempt, TENANT, tenantOf } from "./tenant.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Attack: one IPAddress of the tenant keeps everybody else from getting addresses of a global pool. */
const VICTIM = "victim";

let plane: Plane;
afterEach(() => plane.close());

test("an address of another provider's pool does not block the global pool of the same name", async () => {
  plane = await Plane.start({ own: 0, metal: 0, namespace: VICTIM });
  const mallory = await tenantOf(plane);
  await plane.client.create<Unstructured>({
    apiVersion: GlobalInClusterIPPool.apiVersion,
    kind: GlobalInClusterIPPool.kind,
    metadata: { name: "shared" },
    spec: { addresses: ["10.0.0.10-10.0.0.20"], prefix: 24, gateway: "10.0.0.1" },
  });
  const said = await attempt(mallory, {
    apiVersion: IPAddress.apiVersion,
    kind: IPAddress.kind,
    metadata: { namespace: TENANT, name: "a" },
    spec: {
      claimRef: { name: "a" },
      poolRef: { apiGroup: "ipam.example.com", kind: GlobalInClusterIPPool.kind, name: "shared" },
      address: "10.0.0.10",
      prefix: 24,
      gateway: "10.0.0.1",
    },
  } as Unstructured);
  expect(said).toBe("created");
  // Who was first is decided by the second in which an object was created.
  await plane.pass(5_000);
  // Without an end the attack would leave no time to this test either.
  let made = 0;
  plane.server.internal.watch({ group: IPAddress.group, plural: IPAddress.plural }, ({ namespace, previous }) => {
    if (namespace !== VICTIM || previous !== undefined || ++made !== 20) return;
    void plane.client.delete({ kind: IPAddressClaim, namespace: VICTIM, name: "c" });
  });
  const { group: apiGroup, kind } = GlobalInClusterIPPool;
  await plane.client.create<Unstructured>({
    apiVersion: IPAddressClaim.apiVersion,
    kind: IPAddressClaim.kind,
    metadata: { namespace: VICTIM, name: "c" },
    spec: { poolRef: { apiGroup, kind, name: "shared" } },
  });
  await plane.pass(60_000);
  expect(made, "objects made for one claim").toBe(1);
  expect((await plane.get(IPAddressClaim, "c")).status?.addressRef).toEqual({ name: "c" });
  expect((await plane.get(IPAddress, "c")).spec.address).toBe("10.0.0.10");
});

test("one object does not take all prefixes of a global pool", async () => {
  plane = await Plane.start({ own: 0, metal: 0, namespace: VICTIM });
  const mallory = await tenantOf(plane);
  const { apiVersion, group: apiGroup, kind } = GlobalInClusterPrefixPool;
  await plane.client.create<Unstructured>({
    apiVersion,
    kind,
    metadata: { name: "shared" },
    spec: { prefixes: ["fd00::/56"], allocationPrefixLength: 64 },
  });
  for (const [name, prefix] of [["a", 0] as const, ["b", 56] as const])
    await mallory.create<Unstructured>({
      apiVersion: IPAddress.apiVersion,
      kind: IPAddress.kind,
      metadata: { namespace: TENANT, name },
      spec: { claimRef: { name }, poolRef: { apiGroup, kind, name: "shared" }, address: "fd00::", prefix },
    });
  await plane.pass(5_000);
  await plane.client.create<Unstructured>({
    apiVersion: IPAddressClaim.apiVersion,
    kind: IPAddressClaim.kind,
    metadata: { namespace: VICTIM, name: "c" },
    spec: { poolRef: { apiGroup, kind, name: "shared" } },
  });
  await plane.pass(20_000);
  expect((await plane.get(IPAddressClaim, "c")).status?.addressRef).toEqual({ name: "c" });
  expect((await plane.get(IPAddress, "c")).spec).toMatchObject({ address: "fd00:0:0:1::", prefix: 64 });
});
