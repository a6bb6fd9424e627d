import fc from "fast-check";
import { expect, test } from "vitest";
import { type MemberView, type PoolView, planPool } from "./plan.ts";

const member = (name: string, more: Partial<MemberView> = {}): MemberView => ({
  name,
  min: 0,
  max: 100,
  cost: 1,
  weight: 1,
  current: 0,
  available: 0,
  health: "Good",
  ...more,
});

const pool = (replicas: number, members: MemberView[], more: Partial<PoolView> = {}): PoolView => ({
  replicas,
  strategy: "Cheapest",
  members,
  maxUnavailable: 1,
  returnAfterMs: 900_000,
  nowMs: 10_000_000,
  recoveredAt: new Map(),
  ...more,
});

const desired = (view: PoolView): Record<string, number> =>
  Object.fromEntries(planPool(view).members.map((m) => [m.name, m.desired]));

test("the cheapest gets what it can carry, the next one the rest, minimums first", () => {
  const members = [member("metal", { cost: 0.1, max: 8, min: 2 }), member("cloud", { cost: 0.5, min: 1 })];
  expect(desired(pool(6, members))).toEqual({ metal: 5, cloud: 1 });
  expect(desired(pool(20, members))).toEqual({ metal: 8, cloud: 12 });
});

test("ordered goes by the list, weighted by shares", () => {
  const members = [member("a", { cost: 9, max: 3 }), member("b", { cost: 1 })];
  expect(desired(pool(5, members, { strategy: "Ordered" }))).toEqual({ a: 3, b: 2 });
  const weighted = [member("a", { weight: 3 }), member("b", { weight: 1 })];
  expect(desired(pool(8, weighted, { strategy: "Weighted" }))).toEqual({ a: 6, b: 2 });
});

test("a full member keeps what works and the rest overflows", () => {
  const members = [
    member("metal", { cost: 0.1, current: 8, available: 5, health: "Full" }),
    member("cloud", { cost: 0.5 }),
  ];
  expect(desired(pool(8, members))).toEqual({ metal: 5, cloud: 3 });
});

test("replicas return to a recovered member only after a while, and one at a time", () => {
  const members = [
    member("metal", { cost: 0.1, current: 5, available: 5 }),
    member("cloud", { cost: 0.5, current: 3, available: 3 }),
  ];
  const recovered = new Map([["metal", 9_500_000]]);
  expect(desired(pool(8, members, { recoveredAt: recovered }))).toEqual({ metal: 5, cloud: 3 });
  expect(planPool(pool(8, members, { recoveredAt: recovered })).members[0]?.state).toBe("CoolingDown");
  const later = { recoveredAt: recovered, nowMs: 10_500_000 };
  expect(desired(pool(8, members, later))).toEqual({ metal: 6, cloud: 3 });
  // Nobody leaves before the replacement works.
  const asked = [member("metal", { cost: 0.1, current: 6, available: 5 }), ...members.slice(1)];
  expect(desired(pool(8, asked, later))).toEqual({ metal: 6, cloud: 3 });
  const there = [member("metal", { cost: 0.1, current: 6, available: 6 }), ...members.slice(1)];
  expect(desired(pool(8, there, later))).toEqual({ metal: 7, cloud: 2 });
});

test("a member that turns out to be still full costs no other member a machine", () => {
  const members = [
    member("metal", { cost: 0.1, current: 6, available: 5, working: 5, health: "Full" }),
    member("cloud", { cost: 0.5, current: 3, available: 3 }),
  ];
  expect(desired(pool(8, members))).toEqual({ metal: 5, cloud: 3 });
});

test("a machine that comes up is not given up for one that may never", () => {
  const members = [member("metal", { cost: 0.1 }), member("cloud", { cost: 0.5, current: 1 })];
  expect(desired(pool(1, members))).toEqual({ metal: 0, cloud: 1 });
  const both = [member("metal", { cost: 0.1, current: 1 }), member("cloud", { cost: 0.5, current: 1 })];
  expect(desired(pool(1, both))).toEqual({ metal: 1, cloud: 1 });
});

test("as many move at a time as may", () => {
  const members = [member("metal", { cost: 0.1 }), member("cloud", { cost: 0.5, current: 8, available: 8 })];
  expect(desired(pool(8, members, { maxUnavailable: 3 }))).toEqual({ metal: 3, cloud: 8 });
  expect(desired(pool(8, members, { maxUnavailable: 0 }))).toEqual({ metal: 1, cloud: 8 });
});

test("a smaller pool does not wait: first machines that do not work, then those of the least preferred", () => {
  const members = [
    member("metal", { cost: 0.1, current: 4, available: 2 }),
    member("cloud", { cost: 0.5, current: 4, available: 4 }),
  ];
  expect(desired(pool(6, members))).toEqual({ metal: 4, cloud: 3 });
  const none = [member("metal", { cost: 0.1, current: 3 })];
  expect(desired(pool(2, none))).toEqual({ metal: 2 });
  expect(desired(pool(0, members))).toEqual({ metal: 0, cloud: 0 });
});

test("while one machine is missing nothing more is moved", () => {
  const members = [
    member("metal", { cost: 0.1, current: 6, available: 5 }),
    member("cloud", { cost: 0.5, current: 2, available: 2 }),
  ];
  expect(desired(pool(8, members))).toEqual({ metal: 6, cloud: 2 });
});

test("500 replicas over five members move in one plan when one fails", () => {
  const members = Array.from({ length: 5 }, (_, i) =>
    member(`m${i}`, {
      cost: i,
      max: 150,
      current: 100,
      available: i === 2 ? 0 : 100,
      ...(i === 2 ? { health: "Unhealthy" as const } : {}),
    }),
  );
  const plan = planPool(pool(500, members, { strategy: "Ordered" }));
  expect(plan.unplaced).toBe(0);
  expect(plan.members.find((m) => m.name === "m2")?.desired).toBe(0);
  // Nobody who works loses a machine.
  for (const m of plan.members) if (m.name !== "m2") expect(m.desired).toBeGreaterThanOrEqual(100);
});

const arbitraryMember = (name: string) =>
  fc
    .record({
      min: fc.integer({ min: 0, max: 5 }),
      span: fc.integer({ min: 0, max: 20 }),
      cost: fc.integer({ min: 0, max: 3 }),
      weight: fc.integer({ min: 0, max: 4 }),
      current: fc.integer({ min: 0, max: 25 }),
      down: fc.integer({ min: 0, max: 25 }),
      health: fc.constantFrom("Good" as const, "Full" as const, "Unhealthy" as const),
    })
    .map(({ min, span, cost, weight, current, down, health }) => {
      const bounded = Math.min(current, min + span);
      return member(name, {
        min,
        max: min + span,
        cost,
        weight,
        current: bounded,
        available: Math.max(0, bounded - down),
        health,
      });
    });

const arbitraryPool = fc
  .record({
    replicas: fc.integer({ min: 0, max: 60 }),
    strategy: fc.constantFrom("Cheapest" as const, "Ordered" as const, "Weighted" as const),
    a: arbitraryMember("a"),
    b: arbitraryMember("b"),
    c: arbitraryMember("c"),
    maxUnavailable: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ replicas, strategy, a, b, c, maxUnavailable }) => pool(replicas, [a, b, c], { strategy, maxUnavailable }));

test("never above a maximum, never more than requested in total except for what moves", () => {
  fc.assert(
    fc.property(arbitraryPool, (view) => {
      const plan = planPool(view);
      for (const m of plan.members)
        expect(m.desired).toBeLessThanOrEqual(view.members.find((v) => v.name === m.name)?.max ?? 0);
      const sum = plan.members.reduce((total, m) => total + m.desired, 0);
      expect(sum + plan.unplaced).toBe(Math.max(sum, view.replicas));
      expect(sum).toBeLessThanOrEqual(view.replicas + Math.max(1, view.maxUnavailable));
    }),
  );
});

test("the sum is right whenever healthy members have room", () => {
  fc.assert(
    fc.property(arbitraryPool, (view) => {
      const healthy = view.members.every((m) => m.health === "Good");
      fc.pre(healthy && view.members.reduce((sum, m) => sum + m.max, 0) >= view.replicas);
      expect(planPool(view).unplaced).toBe(0);
    }),
  );
});

test("no flapping: when a plan has been carried out, the next plan is the same or continues in the same direction", () => {
  fc.assert(
    fc.property(arbitraryPool, (view) => {
      fc.pre(view.members.every((m) => m.health === "Good"));
      let current = view;
      const seen = new Set<string>();
      for (let step = 0; step < 80; step++) {
        const plan = planPool(current);
        const text = JSON.stringify(plan.members.map((m) => m.desired));
        const members = current.members.map((m) => {
          const want = plan.members.find((p) => p.name === m.name)?.desired ?? 0;
          return { ...m, current: want, available: want };
        });
        const settled = JSON.stringify(current.members.map((m) => m.current)) === text;
        if (settled) return;
        expect(seen.has(text)).toBe(false);
        seen.add(text);
        current = { ...current, members };
      }
      throw new Error("never settles");
    }),
  );
});
