import type { Unstructured } from "@capstan/apimachinery";
import { Machine } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { ByoMachine } from "@capstan/infra-byoh";
import { BareMetalHost, Metal3Machine } from "@capstan/infra-metal3";
import { simulatedHosts } from "@capstan/manager";
import { afterEach, describe, expect, test, vi } from "vitest";
import { cluster, infraCluster, workers } from "../simulation/manifests.ts";
import { Plane } from "../simulation/plane.ts";
import { attempt, TENANT, tenantOf } from "./tenant.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Attack: a host in the tenant's namespace claims to be that of another namespace's machine, so that the real host looks surplus and is wiped. */
const VICTIM = "victim";
const MANAGEMENT = [
  { where: "on the embedded API", admission: true },
  { where: "on an API without our admission", admission: false },
];

let plane: Plane;
afterEach(() => plane.close());

describe.each(MANAGEMENT)("$where", ({ admission }) => {
  test("a BareMetalHost cannot take the place of another namespace's host", async () => {
    plane = await Plane.start({ own: 0, metal: 1, namespace: VICTIM, admission });
    await plane.apply(cluster("c1", "Metal3Cluster") + infraCluster("metal3", "c1") + workers("c1", "metal3", 1));
    await plane.available("c1", 1);
    const mallory = await tenantOf(plane);
    const before = await plane.get(BareMetalHost, "metal-1");
    expect(before.status?.provisioning.state).toBe("provisioned");
    const [machine] = await plane.list(Metal3Machine);
    const { name = "", uid = "" } = machine?.metadata ?? {};
    const said = await attempt(mallory, {
      apiVersion: BareMetalHost.apiVersion,
      kind: BareMetalHost.kind,
      // Sorts before the real host, and has data as if it were in use.
      metadata: { namespace: TENANT, name: "a" },
      spec: {
        online: true,
        consumerRef: { apiVersion: Metal3Machine.apiVersion, kind: Metal3Machine.kind, namespace: VICTIM, name, uid },
        userData: { namespace: TENANT, name: "a" },
      },
    });
    await plane.pass(120_000);
    const after = await plane.get(BareMetalHost, "metal-1");
    expect(after.status?.provisioning.state).toBe("provisioned");
    expect(after.status?.poweredOn).toBe(true);
    expect(after.spec.image).toEqual(before.spec.image);
    expect(after.spec.consumerRef).toEqual(before.spec.consumerRef);
    expect((await plane.list(Machine)).map(({ status }) => status?.phase)).toEqual(["Running"]);
    expect(said).toContain(
      admission
        ? `spec.consumerRef.namespace: Invalid value: "${VICTIM}": "${name}" is in namespace "${VICTIM}", but only objects of the same namespace can be referenced`
        : "created",
    );
  });

  test("a ByoHost cannot take the place of another namespace's host", async () => {
    plane = await Plane.start({ own: 1, metal: 0, namespace: VICTIM, admission });
    await plane.apply(cluster("c1", "ByoCluster") + infraCluster("byoh", "c1") + workers("c1", "byoh", 1));
    await plane.available("c1", 1);
    const mallory = await tenantOf(plane);
    const released: unknown[] = [];
    plane.server.internal.watch({ group: ByoHost.group, plural: ByoHost.plural }, ({ object }) => {
      const { spec } = (object ?? {}) as Partial<ByoHost>;
      if (object?.metadata.namespace === VICTIM && spec?.release !== undefined) released.push(spec.release);
    });
    const before = await plane.get(ByoHost, "own-1");
    const [machine] = await plane.list(ByoMachine);
    const { name = "", uid = "" } = machine?.metadata ?? {};
    const said = await attempt(mallory, {
      apiVersion: ByoHost.apiVersion,
      kind: ByoHost.kind,
      metadata: { namespace: TENANT, name: "a" },
      spec: {
        machineRef: { apiVersion: ByoMachine.apiVersion, kind: ByoMachine.kind, namespace: VICTIM, name, uid },
        providerID: before.spec?.providerID,
      },
    } as Unstructured);
    // The host's own controller looks again when the host changes: an agent's heartbeat does that.
    await plane.pass(180_000);
    const after = await plane.get(ByoHost, "own-1");
    expect(released, "its agent was ordered to wipe the host").toEqual([]);
    expect(after.spec).toEqual(before.spec);
    expect(after.status?.bootstrap?.phase).toBe("Succeeded");
    expect((await plane.list(Machine)).map(({ status }) => status?.phase)).toEqual(["Running"]);
    expect(said).toContain(
      admission ? `spec.machineRef.namespace: Invalid value: "${VICTIM}": "${name}" is in namespace` : "created",
    );
  });
});

describe("the management controller of a host that another namespace names as well", () => {
  /** The tenant's host at the address of the victim's only one. */
  const twin = (bmc: object, annotations: Record<string, string> = {}): Unstructured => ({
    apiVersion: BareMetalHost.apiVersion,
    kind: BareMetalHost.kind,
    metadata: { namespace: TENANT, name: "a", annotations },
    spec: { online: true, bootMACAddress: "02:00:00:00:00:01", bmc: { address: "memory://metal-1", ...bmc } },
  });
  const credentials: Unstructured = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: TENANT, name: "bmc" },
    stringData: { username: "admin", password: "simulated" },
  };

  test.each<{ how: string; annotations: Record<string, string> }>([
    { how: "without credentials", annotations: {} },
    { how: "paused", annotations: { "baremetalhost.metal3.io/paused": "" } },
    {
      how: "detached, with a status of its own making",
      annotations: {
        "baremetalhost.metal3.io/detached": "",
        "baremetalhost.metal3.io/status": JSON.stringify({
          operationalStatus: "detached",
          provisioning: { state: "provisioned", ID: "metal-1" },
        }),
      },
    },
  ])("is not blocked by one $how that was there first", async ({ annotations }) => {
    plane = await Plane.start({ own: 0, metal: 0, namespace: VICTIM });
    const mallory = await tenantOf(plane);
    expect(await attempt(mallory, twin({ credentialsName: "none" }, annotations))).toBe("created");
    await plane.pass(10_000);
    for (const object of simulatedHosts(VICTIM, { metal3: 1 })) await plane.client.create(object);
    await plane.pass(120_000);
    expect((await plane.get(BareMetalHost, "metal-1")).status?.provisioning.state).toBe("available");
  });

  test("is not driven by two, even if both can sign in", async () => {
    plane = await Plane.start({ own: 0, metal: 1, namespace: VICTIM });
    const mallory = await tenantOf(plane);
    await mallory.create(credentials);
    await plane.pass(60_000);
    const victim = await plane.get(BareMetalHost, "metal-1");
    expect(victim.status?.provisioning.state).toBe("available");
    await mallory.create(twin({ credentialsName: "bmc" }));
    await plane.restartManager();
    await plane.pass(120_000);
    const other = await plane.client.get(BareMetalHost, { namespace: TENANT, name: "a" });
    expect(other?.status?.provisioning.state).toBe("registering");
    expect(other?.status?.errorMessage).toContain("a BareMetalHost of another namespace");
    expect((await plane.get(BareMetalHost, "metal-1")).status?.poweredOn).toBe(victim.status?.poweredOn);
  });
});
