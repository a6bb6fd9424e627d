import { KubeadmControlPlane, Machine } from "@capstan/capi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { INITIALIZED, STARTS_CLUSTER } from "./annotations.ts";
import { NAMESPACE, World } from "./testing/world.ts";

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(async () => {
  await world.close();
});

const KEY = { namespace: NAMESPACE, name: "c1" };

async function onlyMachine(): Promise<Machine> {
  const [machine] = await world.machines();
  if (machine === undefined) throw new Error("no machine");
  return machine;
}

/** A move to another management cluster, where the API of the workload cluster is not reachable. */
async function moveOutOfReach(): Promise<Machine> {
  const machine = await onlyMachine();
  await world.plane.stopControllers();
  world.side.mute = true;
  await world.user.patchStatus({ kind: KubeadmControlPlane, ...KEY }, { status: null });
  await world.user.patchStatus(machine, { status: null });
  return machine;
}

/** What a version that recorded nothing has created. */
async function withoutRecords(): Promise<void> {
  await world.user.patch({ kind: KubeadmControlPlane, ...KEY }, { metadata: { annotations: { [INITIALIZED]: null } } });
  await world.user.patch(await onlyMachine(), { metadata: { annotations: { [STARTS_CLUSTER]: null } } });
}

async function expectKept({ metadata }: Machine): Promise<void> {
  await world.plane.settle(120_000);
  const machines = await world.machines();
  expect(machines.map(({ metadata: { name } }) => name)).toEqual([metadata.name]);
  expect(machines[0]?.metadata.annotations).toHaveProperty([
    "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup",
  ]);
}

test("records the initialization once, in an annotation", async () => {
  await world.addCluster();
  await world.addPlane();
  await world.ready(1);
  expect((await world.get()).metadata.annotations).toMatchObject({ [INITIALIZED]: "c1" });
  const before = world.plane.requests.length;
  await world.plane.settle(300_000);
  expect(world.plane.requests.length - before).toBeLessThan(5);
});

test("records the initialization of a control plane that an older version initialized", async () => {
  await world.addCluster();
  await world.addPlane();
  await world.ready(1);
  await world.plane.stopControllers();
  await withoutRecords();
  await world.plane.startControllers();
  await world.until(async () => (await world.get()).metadata.annotations?.[INITIALIZED] === "c1");
});

test.each(["recorded", "not recorded"])(
  "keeps the only Machine of a moved control plane out of reach (%s)",
  async (how) => {
    await world.addCluster();
    await world.addPlane();
    await world.ready(1);
    const machine = await moveOutOfReach();
    if (how === "not recorded") await withoutRecords();
    await world.failHealthCheck(machine);
    await world.plane.startControllers();
    await expectKept(machine);
    // A guess is not reported.
    expect((await world.get()).status?.initialization?.controlPlaneInitialized === true).toBe(how === "recorded");
    await world.user.delete({ kind: Machine, namespace: NAMESPACE, name: machine.metadata.name ?? "" });
    await expectKept(machine);
  },
);

test("an annotation that was copied from another control plane does not count", async () => {
  await world.addCluster();
  await world.addPlane({}, { annotations: { [INITIALIZED]: "c0" } });
  await world.ready(1);
  expect((await world.get()).metadata.annotations).toMatchObject({ [INITIALIZED]: "c1" });
});

test("replaces a first Machine that never starts, although its infrastructure exists", async () => {
  await world.addCluster();
  await world.addTemplate("never", { never: true });
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "TestMachineTemplate", name: "never" };
  await world.addPlane({ machineTemplate: { spec: { infrastructureRef } } });
  await world.until(async () => (await world.machines()).length === 1);
  const machine = await onlyMachine();
  await world.user.patch(machine, { spec: { providerID: "test://x" } });
  await world.failHealthCheck(machine);
  await world.until(async () => (await world.machines()).some(({ metadata }) => metadata.uid !== machine.metadata.uid));
});
