import { afterEach, beforeEach, expect, test } from "vitest";
import { BareMetalHost } from "./kinds/bare-metal-host.ts";
import { IPPool } from "./kinds/ip-pool.ts";
import { Metal3DataTemplate } from "./kinds/metal3-data.ts";
import { Metal3Machine } from "./kinds/metal3-machine.ts";
import { Fleet } from "./testing/fleet.ts";

/** Every fault of a machine is reported in a condition and an event that say what to do. */
let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1");
  await fleet.restartManager();
});
afterEach(() => fleet.close());

const consumer = (name = "host1") => fleet.world.hosts.host(name)?.spec.consumerRef?.name;
const objects = (group: string, plural: string): number =>
  fleet.world.server.internal.list({ group, plural }, "default").length;
const withPool = (name: string) => ({ metaData: { ipAddressesFromPool: [{ key: "ip", name }] } });
/** Nothing is left of any machine: no data, no address, no claim. */
function expectNothingLeft(): void {
  for (const plural of ["metal3machines", "metal3dataclaims", "metal3datas"])
    expect([plural, objects(Metal3Machine.group, plural)]).toEqual([plural, 0]);
  for (const plural of ["ipclaims", "ipaddresses"])
    expect([plural, objects(IPPool.group, plural)]).toEqual([plural, 0]);
  expect(fleet.world.hosts.running.size).toBe(0);
}

test("reports every step of a machine: claim, provisioning, join, and release", async () => {
  await fleet.addMachine("m1");
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
  await fleet.deleteMachine("m1");
  await fleet.pass(20);
  expect(fleet.events).toEqual([
    "Normal HostClaimed Metal3Machine/m1: BareMetalHost host1 is claimed",
    "Normal HostProvisioning Metal3Machine/m1: BareMetalHost host1 starts provisioning: http://images.example/node.qcow2",
    "Normal NodeJoined Metal3Machine/m1: Node host1 on BareMetalHost host1 is metal3://default/host1/m1",
    "Normal HostDeprovisioning Metal3Machine/m1: BareMetalHost host1 starts deprovisioning",
    "Normal HostReleased Metal3Machine/m1: BareMetalHost host1 is free again",
  ]);
  expectNothingLeft();
});

test("no host left: reported with the count, and the machine gets one as soon as there is one", async () => {
  await fleet.addMachines("m1", "m2");
  await fleet.pass(20);
  const [waiting = ""] = fleet.withReason("InsufficientCapacity");
  const text = "of 1 matching BareMetalHosts none is available (1 in use): register another, or wait";
  expect(fleet.condition(waiting)).toBe(`False InsufficientCapacity: ${text}`);
  expect(fleet.told("InsufficientCapacity")).toEqual([
    `Warning InsufficientCapacity Metal3Machine/${waiting}: ${text}`,
  ]);
  await fleet.addHosts("host2");
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1", "m2"]);
});

test("pool exhausted: reported on claim, data and machine, and the address that returns is given", async () => {
  await fleet.addHosts("host2");
  await fleet.create(IPPool, "tiny", { namePrefix: "tiny", pools: [{ start: "198.51.100.1", end: "198.51.100.1" }] });
  await fleet.create(Metal3DataTemplate, "tiny", withPool("tiny"));
  for (const name of ["m1", "m2"]) await fleet.addMachine(name, { dataTemplate: { name: "tiny" } });
  await fleet.pass(20);
  const [served = ""] = fleet.withReason("Ready");
  const [waiting = ""] = fleet.withReason("DataNotRendered");
  const text = "Exhausted IP Pools: IPPool tiny has no free address left; add addresses or delete claims";
  expect(fleet.condition(waiting)).toContain(text);
  expect(fleet.condition(waiting, "Metal3DataReady")).toBe(`False WaitingForMetal3Data: ${text}`);
  expect(fleet.told("AllocationFailed")).toEqual([
    expect.stringMatching(/^Warning AllocationFailed IPClaim\/tiny-\d-tiny: Exhausted/),
  ]);
  expect(fleet.told("RenderingFailed")).toHaveLength(1);
  expect(fleet.told("DataNotRendered")).toEqual([expect.stringContaining(`Metal3Machine/${waiting}: ${text}`)]);
  await fleet.pass(600);
  expect(fleet.told("DataNotRendered"), "reported once").toHaveLength(1);
  await fleet.deleteMachine(served);
  await fleet.pass(60);
  expect(fleet.withReason("Ready")).toEqual([waiting]);
  expect([...fleet.addresses()]).toEqual(["198.51.100.1"]);
});

test.each<[string, object, RegExp]>([
  [
    "a missing interface",
    { networkData: { links: { ethernets: [{ id: "e", type: "phy", macAddress: { fromHostInterface: "eth9" } }] } } },
    /networkData\.links\.ethernets.*: BareMetalHost host1 has no interface eth9, only eth0/,
  ],
  ["a missing pool", withPool("nowhere"), /IPPool nowhere does not exist; create it/],
  [
    "a pool by an annotation that is not there",
    {
      networkData: {
        networks: { ipv4: [{ id: "n", link: "e", fromPoolAnnotation: { object: "machine", annotation: "pool" } }] },
      },
    },
    /fromPoolAnnotation: annotation pool not found or empty on machine; set it/,
  ],
])("a data template naming %s: reported with its name, and nothing is provisioned", async (_, spec, text) => {
  await fleet.create(Metal3DataTemplate, "bad", spec);
  await fleet.addMachine("m1", { dataTemplate: { name: "bad" } });
  await fleet.pass(20);
  expect(fleet.condition("m1")).toMatch(text);
  expect(fleet.condition("m1", "Metal3DataReady")).toMatch(text);
  expect(fleet.told("RenderingFailed")).toEqual([expect.stringMatching(text)]);
  expect(fleet.told("DataNotRendered")).toEqual([expect.stringMatching(text)]);
  expect(fleet.world.hosts.host("host1")?.spec.image).toBeUndefined();
  await fleet.deleteMachine("m1");
  await fleet.pass(20);
  expect(consumer()).toBeUndefined();
  expectNothingLeft();
});

test("a missing pool, or a missing template: created later, the machine continues", async () => {
  await fleet.addMachine("m1", { dataTemplate: { name: "later" } });
  await fleet.pass(10);
  expect(fleet.condition("m1")).toContain("Metal3DataTemplate later does not exist; create it");
  expect(fleet.told("TemplateMissing")).toHaveLength(1);
  await fleet.create(Metal3DataTemplate, "later", withPool("late"));
  await fleet.pass(10);
  expect(fleet.condition("m1")).toContain("IPPool late does not exist; create it");
  await fleet.create(IPPool, "late", { namePrefix: "late", pools: [{ start: "198.51.100.1", end: "198.51.100.9" }] });
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
});

test("a host that fails to be provisioned: what its controller said, on the machine too", async () => {
  fleet.world.hosts.broken.set("host1", "InsertMedia: the management controller answered 400");
  await fleet.addMachine("m1");
  await fleet.pass(20);
  const text =
    "BareMetalHost host1 (available): provisioning error: InsertMedia: the management controller answered 400";
  expect(fleet.told("HostError")[0]).toContain(text);
  fleet.world.hosts.broken.clear();
  await fleet.pass(30);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
});

test.each([1, 8, 20])(
  "a host deleted under its machine after %i s: reported, not replaced by another, nothing leaked",
  async (seconds) => {
    await fleet.addMachine("m1");
    await fleet.pass(seconds);
    expect(consumer()).toBe("m1");
    await fleet.addHosts("host2");
    await fleet.client.delete({ kind: BareMetalHost, namespace: "default", name: "host1" });
    fleet.world.hosts.running.clear();
    await fleet.pass(60);
    expect(fleet.condition("m1")).toMatch(/^False ObjectDeleted: .*delete it here as well to have it replaced/);
    expect(fleet.told("ObjectDeleted")).toHaveLength(1);
    expect(consumer("host2")).toBeUndefined();
    await fleet.deleteMachine("m1");
    await fleet.pass(20);
    expectNothingLeft();
  },
);

test.each([0, 1, 3, 8, 20])(
  "kubectl delete of the whole file after %i s: whatever order things go in, the host is free and nothing is left",
  async (seconds) => {
    await fleet.addMachine("m1");
    await fleet.pass(seconds);
    const gone = [
      [IPPool.apiVersion, IPPool.kind, "pool"],
      [Metal3DataTemplate.apiVersion, Metal3DataTemplate.kind, "data"],
      ["cluster.x-k8s.io/v1beta2", "Cluster", "c1"],
      ["cluster.x-k8s.io/v1beta2", "Machine", "m1"],
      [Metal3Machine.apiVersion, Metal3Machine.kind, "m1"],
    ] as const;
    for (const [apiVersion, kind, name] of gone)
      await fleet.client.delete({ apiVersion, kind, metadata: { namespace: "default", name } });
    await fleet.pass(120);
    expectNothingLeft();
    expect(consumer()).toBeUndefined();
    expect(fleet.world.hosts.host("host1")?.spec.image).toBeUndefined();
    expect([objects(IPPool.group, "ippools"), objects(Metal3DataTemplate.group, "metal3datatemplates")]).toEqual([
      0, 0,
    ]);
  },
);
