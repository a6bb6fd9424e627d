import { seededRandom } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Simulation, simulatedSet, simulateRollout } from "../testing/rollout-simulation.ts";
import { type PlannedSet, planRollout, type RolloutInput } from "./rollout-planner.ts";

type Scenario = Omit<Simulation, "random">;

const input = (more: Partial<Simulation["input"]>): Simulation["input"] => ({
  strategy: "RollingUpdate",
  paused: false,
  desired: 3,
  maxSurge: 1,
  maxUnavailable: 0,
  ...more,
});

const scenarios: Record<string, () => Scenario> = {
  "surge-1": () => ({ input: input({}), current: "new", sets: [simulatedSet("old", 3), simulatedSet("new", 0)] }),
  "unavailable-1": () => ({
    input: input({ maxSurge: 0, maxUnavailable: 1 }),
    current: "new",
    sets: [simulatedSet("old", 3), simulatedSet("new", 0)],
  }),
  "surge-2-unavailable-2": () => ({
    input: input({ desired: 6, maxSurge: 2, maxUnavailable: 2 }),
    current: "new",
    sets: [simulatedSet("old", 6), simulatedSet("new", 0)],
  }),
  "broken-old-machines": () => ({
    input: input({}),
    current: "new",
    sets: [simulatedSet("old", 3, 1), simulatedSet("new", 0)],
  }),
  "all-old-machines-broken": () => ({
    input: input({}),
    current: "new",
    sets: [simulatedSet("old", 3, 3), simulatedSet("new", 0)],
  }),
  "changed-again-half-way": () => ({
    input: input({ desired: 4 }),
    current: "second",
    sets: [simulatedSet("first", 4), simulatedSet("second", 0), simulatedSet("third", 0)],
    act: (turn, simulation) => {
      if (turn !== 12) return undefined;
      simulation.current = "third";
      return "changes the template again";
    },
  }),
  "scaled-while-rolling": () => ({
    input: input({ desired: 3 }),
    current: "new",
    sets: [simulatedSet("old", 3), simulatedSet("new", 0)],
    act: (turn, simulation) => {
      if (turn !== 8) return undefined;
      simulation.input = { ...simulation.input, desired: 5 };
      return "scales to 5";
    },
  }),
  "scaled-to-zero-while-rolling": () => ({
    input: input({ desired: 3 }),
    current: "new",
    sets: [simulatedSet("old", 3), simulatedSet("new", 0)],
    act: (turn, simulation) => {
      if (turn !== 8) return undefined;
      simulation.input = { ...simulation.input, desired: 0 };
      return "scales to 0";
    },
  }),
  "paused-and-scaled": () => ({
    input: input({ desired: 10, maxSurge: 2, maxUnavailable: 2 }),
    current: "new",
    sets: [simulatedSet("old", 10), simulatedSet("new", 0)],
    act: (turn, simulation) => {
      if (turn === 6) {
        simulation.input = { ...simulation.input, paused: true };
        return "pauses";
      }
      if (turn === 10) {
        simulation.input = { ...simulation.input, desired: 20 };
        return "scales to 20";
      }
      if (turn === 60) {
        simulation.input = { ...simulation.input, paused: false };
        return "resumes";
      }
      return turn < 60 ? "" : undefined;
    },
  }),
  "rolled-back-half-way": () => ({
    input: input({ desired: 4 }),
    current: "new",
    sets: [simulatedSet("old", 4), simulatedSet("new", 0)],
    act: (turn, simulation) => {
      if (turn !== 14) return undefined;
      simulation.current = "old";
      return "goes back to the old template";
    },
  }),
  "new-machines-never-start": () => ({
    input: input({ desired: 3, maxUnavailable: 1 }),
    current: "new",
    sets: [simulatedSet("old", 3), simulatedSet("new", 0)],
    act: (_, simulation) => {
      for (const machine of simulation.sets[1]?.machines ?? [])
        if (machine.state === "starting") machine.state = "broken";
      return undefined;
    },
  }),
  "on-delete": () => ({
    input: input({ strategy: "OnDelete" }),
    current: "new",
    sets: [{ ...simulatedSet("old", 3), frozen: true }, simulatedSet("new", 0)],
    act: (turn, simulation) => {
      const victim = simulation.sets[0]?.machines.find(({ state }) => state === "available");
      if (turn % 10 !== 5 || victim === undefined) return turn < 40 ? "" : undefined;
      victim.state = "deleting";
      return `deletes ${victim.name}`;
    },
  }),
  "on-delete-scaled-down": () => ({
    input: input({ strategy: "OnDelete", desired: 4 }),
    current: "new",
    sets: [{ ...simulatedSet("old", 4), frozen: true }, simulatedSet("new", 0)],
    act: (turn, simulation) => {
      if (turn !== 3) return turn < 20 ? "" : undefined;
      simulation.input = { ...simulation.input, desired: 2 };
      return "scales to 2";
    },
  }),
};

describe("whole rollouts", () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    test(name, async () => {
      await expect(simulateRollout({ ...scenario(), random: seededRandom(11) })).toMatchFileSnapshot(
        `rollouts/${name}.golden.txt`,
      );
    });
  }
});

const set = (current: boolean): fc.Arbitrary<PlannedSet> =>
  fc
    .record({
      replicas: fc.nat(12),
      extra: fc.integer({ min: -3, max: 3 }),
      available: fc.nat(12),
      createdAt: fc.nat(5),
    })
    .map(({ replicas, extra, available, createdAt }) => {
      const machines = Math.max(0, replicas + extra);
      return {
        name: `${current ? "new" : "old"}${createdAt}`,
        current,
        replicas,
        machines,
        available: Math.min(available, machines),
        createdAt,
      };
    });

const anyInput: fc.Arbitrary<RolloutInput> = fc
  .record({
    strategy: fc.constantFrom("RollingUpdate", "OnDelete") as fc.Arbitrary<RolloutInput["strategy"]>,
    paused: fc.boolean(),
    desired: fc.nat(12),
    maxSurge: fc.nat(4),
    maxUnavailable: fc.nat(4),
    current: set(true),
    old: fc.uniqueArray(set(false), { maxLength: 3, selector: ({ name }) => name }),
  })
  .map(({ current, old, maxUnavailable, maxSurge, ...rest }) => ({
    ...rest,
    maxSurge,
    maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable,
    sets: [current, ...old],
  }));

const total = (plan: ReadonlyMap<string, number>): number => [...plan.values()].reduce((a, b) => a + b, 0);

describe("laws of a single step", () => {
  test("never asks for more Machines than desired plus surge, unless there were more before", () => {
    fc.assert(
      fc.property(anyInput, (given) => {
        const { replicas } = planRollout(given);
        const before = given.sets.reduce((sum, s) => sum + s.replicas, 0);
        expect(total(replicas)).toBeLessThanOrEqual(Math.max(before, given.desired + given.maxSurge));
        for (const value of replicas.values()) expect(value).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test("a rolling update never plans away more availability than allowed", () => {
    fc.assert(
      fc.property(anyInput, (given) => {
        fc.pre(given.strategy === "RollingUpdate" && !given.paused);
        const { replicas, notes } = planRollout(given);
        fc.pre(!notes.some((note) => note.includes("hold up")));
        const current = given.sets[0];
        // Scaling the current set down to what is desired is what the user asked for.
        fc.pre(current !== undefined && current.replicas <= given.desired);
        const sure = (chosen: (s: PlannedSet) => number): number =>
          given.sets.reduce((sum, s) => {
            const going = Math.max(0, Math.max(s.machines, s.replicas) - chosen(s));
            return sum + Math.max(0, s.available - going);
          }, 0);
        const before = sure((s) => s.replicas);
        const after = sure((s) => replicas.get(s.name) ?? 0);
        expect(after).toBeGreaterThanOrEqual(Math.min(before, given.desired - given.maxUnavailable));
      }),
    );
  });

  test("planning again right after changes nothing new", () => {
    fc.assert(
      fc.property(anyInput, (given) => {
        fc.pre(!given.paused);
        const first = planRollout(given);
        fc.pre(!first.notes.some((note) => note.includes("hold up")));
        const again = planRollout({
          ...given,
          sets: given.sets.map((s) => ({ ...s, replicas: first.replicas.get(s.name) ?? 0 })),
        });
        if (given.strategy === "RollingUpdate")
          for (const s of given.sets) {
            const once = first.replicas.get(s.name) ?? 0;
            if (!s.current) expect(again.replicas.get(s.name)).toBeLessThanOrEqual(once);
          }
        expect(total(again.replicas)).toBeLessThanOrEqual(
          Math.max(total(first.replicas), given.desired + given.maxSurge),
        );
      }),
    );
  });
});
