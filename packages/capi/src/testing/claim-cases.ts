import assert from "node:assert/strict";
import type { KubeObject } from "@capstan/apimachinery";
import type { ClaimFleet, FleetWorld } from "./claim-fleet.ts";

const FAULTS = { refused: 0.05, answerLost: 0.1, contended: 0.3 };

/** A fleet of any provider. */
export type AnyClaimFleet = ClaimFleet<FleetWorld, KubeObject & { status?: object }>;

/** A provider whose machines claim hosts. */
export interface ClaimSubject<F extends AnyClaimFleet> {
  start(seed: number): Promise<F>;
  readonly seeds: readonly number[];
  /** How long the last machines take after a storm, in seconds. */
  readonly settleSeconds: number;
  /** How long it takes until the next machine is ready on a host that a machine leaves, in seconds. */
  readonly reuseSeconds: number;
  /** What Ready says of a machine without a host while 30 hosts are in use. */
  readonly noneFree: string;
  /** Number of hosts on which something runs. */
  running(fleet: F): number;
}

/** One thing that claims of every provider must do. */
export interface ClaimCase {
  readonly name: string;
  run(): Promise<void>;
}

/** Names with two digits: `host01`, `host02`, … */
export function numbered(prefix: string, count: number, from = 1): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${String(i + from).padStart(2, "0")}`);
}

/** What must hold for claims of every provider, as cases for any test runner. */
export function claimCases<F extends AnyClaimFleet>(subject: ClaimSubject<F>): ClaimCase[] {
  const alone = (name: string, seed: number, run: (fleet: F) => Promise<void>): ClaimCase => ({
    name,
    run: async () => {
      const fleet = await subject.start(seed);
      try {
        await run(fleet);
        assert.deepEqual(fleet.violations, []);
      } finally {
        await fleet.close();
      }
    },
  });
  return [
    ...subject.seeds.map((seed) =>
      alone(
        `50 machines at once over 50 hosts, conflicts, lost answers and kills: each gets one (seed ${seed})`,
        seed,
        async (fleet) => {
          await fleet.addHosts(...numbered("host", 50));
          await fleet.addMachines(...numbered("m", 50));
          await storm(fleet, subject.settleSeconds);
          assert.deepEqual(fleet.claimants(), numbered("m", 50));
          assert.deepEqual(fleet.withReason("Ready"), numbered("m", 50));
          assert.equal(subject.running(fleet), 50);
        },
      ),
    ),
    alone("50 machines over 30 hosts: 30 get one, the others say why not and get one once it is free", 1, (fleet) =>
      scarce(fleet, subject),
    ),
  ];
}

async function scarce<F extends AnyClaimFleet>(fleet: F, subject: ClaimSubject<F>): Promise<void> {
  await fleet.addHosts(...numbered("host", 30));
  await fleet.addMachines(...numbered("m", 50));
  await storm(fleet, subject.settleSeconds);
  const served = fleet.withReason("Ready");
  assert.equal(served.length, 30);
  assert.deepEqual(fleet.claimants(), served);
  const waiting = fleet.withReason("InsufficientCapacity");
  assert.equal(waiting.length, 20);
  const text = fleet.condition(waiting[0] ?? "");
  assert.equal(text, `False InsufficientCapacity: ${subject.noneFree}`);

  for (const name of served.slice(0, 5)) await fleet.deleteMachine(name);
  // Released, claimed by the next machine and provisioned, without waiting for a periodic check.
  await fleet.pass(subject.reuseSeconds);
  assert.equal(fleet.withReason("Ready").length, 30);
  assert.equal(fleet.withReason("InsufficientCapacity").length, 15);

  await fleet.addHosts(...numbered("host", 15, 31));
  await fleet.pass(subject.reuseSeconds);
  assert.equal(fleet.withReason("Ready").length, 45);
}

/** Kills the manager again and again while it works, each time after another moment. */
async function storm(fleet: AnyClaimFleet, settleSeconds: number): Promise<void> {
  for (const ms of [1, 5, 20, 60, 150, 400, 1_000, 3_000]) {
    await fleet.restartManager(FAULTS);
    await fleet.clock.advance(ms);
  }
  await fleet.restartManager(FAULTS);
  await fleet.pass(120);
  await fleet.restartManager();
  await fleet.pass(settleSeconds);
}
