import { afterEach, expect, test, vi } from "vitest";
import { Fleet } from "./testing/fleet.ts";

const FAULTS = { refused: 0.05, answerLost: 0.1, contended: 0.3 };
const names = (prefix: string, count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i + from).padStart(2, "0")}`);

vi.setConfig({ testTimeout: 120_000 });

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
  await fleet.pass(90);
}

const claimedBy = (): string[] =>
  fleet.world.hosts
    .hosts()
    .flatMap(({ spec }) => spec.consumerRef?.name ?? [])
    .sort();

test.each([1, 2])(
  "50 machines at once over 50 hosts, conflicts, lost answers and kills: each gets one (seed %i)",
  async (seed) => {
    fleet = await Fleet.start(seed);
    await fleet.addHosts(...names("host", 50));
    await fleet.addMachines(...names("m", 50));
    await storm();
    expect(fleet.violations).toEqual([]);
    expect(claimedBy()).toEqual(names("m", 50));
    expect(fleet.withReason("Ready")).toEqual(names("m", 50));
    expect(fleet.world.hosts.running.size).toBe(50);
    expect(fleet.addresses().size).toBe(50);
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
  expect(fleet.withReason("InsufficientCapacity")).toHaveLength(20);
  const waiting = fleet.withReason("InsufficientCapacity")[0] ?? "";
  expect(fleet.machine(waiting)?.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: "Ready",
      message: "of 30 matching BareMetalHosts none is available (30 in use): register another, or wait",
    }),
  );
  for (const name of served.slice(0, 5)) await fleet.deleteMachine(name);
  // Deprovisioned, claimed by the next, provisioned: no waiting for a recheck.
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toHaveLength(30);
  expect(fleet.withReason("InsufficientCapacity")).toHaveLength(15);
  expect(fleet.violations).toEqual([]);
});
