import { ByoHost } from "@capstan/host-agent";
import { afterEach, expect, test, vi } from "vitest";
import { MACHINE_ID_ANNOTATION } from "./machine-ids.ts";
import { Fleet } from "./testing/fleet.ts";

const FAULTS = { refused: 0.05, answerLost: 0.1, contended: 0.3 };
const names = (prefix: string, count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i + from).padStart(2, "0")}`);

// One seed took 16 s on a busy machine, and the default is 20 s.
vi.setConfig({ testTimeout: 60_000 });

let fleet: Fleet;
afterEach(() => fleet.close());

/** Kills the manager again and again while it works, each time after another moment. */
async function storm(): Promise<void> {
  for (const ms of [1, 5, 20, 60, 150, 400, 1_000, 3_000]) {
    await fleet.restartManager(FAULTS);
    await fleet.clock.advance(ms);
  }
  await fleet.restartManager(FAULTS);
  await fleet.pass(120);
  await fleet.restartManager();
  await fleet.pass(60);
}

const claimedBy = (): string[] =>
  fleet.world.agents
    .hosts()
    .flatMap(({ spec }) => spec?.machineRef?.name ?? [])
    .sort();

test.each([1, 2, 3])(
  "50 machines at once over 50 hosts, conflicts, lost answers and kills: each gets one (seed %i)",
  async (seed) => {
    fleet = await Fleet.start(seed);
    await fleet.addHosts(...names("host", 50));
    await fleet.addMachines(...names("m", 50));
    await storm();
    expect(fleet.violations).toEqual([]);
    expect(claimedBy()).toEqual(names("m", 50));
    expect(fleet.withReason("Ready")).toEqual(names("m", 50));
    expect(fleet.world.agents.running.size).toBe(50);
  },
);

test("50 machines over 30 hosts: 30 get one, the rest says why not and gets one as soon as there is one", async () => {
  fleet = await Fleet.start();
  await fleet.addHosts(...names("host", 30));
  await fleet.addMachines(...names("m", 50));
  await storm();
  expect(fleet.violations).toEqual([]);
  const served = fleet.withReason("Ready");
  expect(served).toHaveLength(30);
  expect(claimedBy()).toEqual(served);
  expect(fleet.withReason("InsufficientCapacity")).toHaveLength(20);
  const waiting = fleet.withReason("InsufficientCapacity")[0] ?? "";
  expect(fleet.machine(waiting)?.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: "Ready",
      message: "of 30 matching hosts none is free (30 in use): enrol another with: capstan host add NAME",
    }),
  );

  for (const name of served.slice(0, 5)) await fleet.deleteMachine(name);
  // The agent cleans, the next machine claims, the agent bootstraps: no waiting for a recheck.
  await fleet.pass(15);
  expect(fleet.withReason("Ready")).toHaveLength(30);
  expect(fleet.withReason("InsufficientCapacity")).toHaveLength(15);

  await fleet.addHosts(...names("host", 15, 31));
  await fleet.pass(15);
  expect(fleet.withReason("Ready")).toHaveLength(45);
  expect(fleet.violations).toEqual([]);
});

test("a machine whose host was removed is not quietly put on another", async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1", "host2");
  await fleet.addMachines("m1");
  await fleet.restartManager();
  await fleet.pass(30);
  await fleet.world.server.internal.delete(
    { group: "infrastructure.cluster.x-k8s.io", plural: "byohosts" },
    "default",
    "host1",
  );
  await fleet.pass(30);
  expect(fleet.withReason("ObjectDeleted")).toEqual(["m1"]);
  expect(claimedBy()).toEqual([]);
});

test("a host whose machine vanished without a word is cleaned and free again", async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1");
  await fleet.addMachines("m1");
  await fleet.restartManager();
  await fleet.pass(30);
  await fleet.stopManager();
  const machines = { group: "infrastructure.cluster.x-k8s.io", plural: "byomachines" };
  await fleet.world.server.internal.update(machines, "default", "m1", "impatient", (machine) => {
    machine.metadata.finalizers = [];
  });
  await fleet.deleteMachine("m1");
  await fleet.restartManager();
  // Time for a restore that brings hosts first.
  await fleet.pass(240);
  expect(fleet.world.agents.host("host1")?.spec?.machineRef?.name).toBe("m1");
  await fleet.pass(90);
  expect(fleet.world.agents.host("host1")?.spec).toEqual({});
  expect(fleet.world.agents.running.size).toBe(0);
});

test("a claim that came through late is given back; the host that the machine knows stays with it", async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host2");
  await fleet.addMachines("m1");
  await fleet.restartManager();
  await fleet.pass(30);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
  // With the claim, not only once it was seen for a while.
  expect(fleet.world.agents.host("host2")?.metadata.annotations?.[MACHINE_ID_ANNOTATION]).toBe("id-of-host2");
  const node = fleet.world.agents.running.get("host2");
  await fleet.addHosts("host1");
  const { machineRef, bootstrapSecret } = fleet.world.agents.host("host2")?.spec ?? {};
  const late = { spec: { machineRef, bootstrapSecret, providerID: "byoh://host1/late" } };
  await fleet.client.patch({ kind: ByoHost, namespace: "default", name: "host1" }, late);
  await fleet.pass(30);
  expect(fleet.world.agents.host("host1")?.spec).toEqual({});
  expect(fleet.world.agents.running).toEqual(new Map([["host2", node]]));
  expect(fleet.world.agents.host("host2")?.spec?.machineRef).toEqual(machineRef);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
});
