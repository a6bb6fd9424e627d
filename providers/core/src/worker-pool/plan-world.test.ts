import fc from "fast-check";
import { expect, test } from "vitest";
import { type MemberState, type MemberView, planPool, type Strategy } from "./plan.ts";

const RETURN_MS = 10_000;
const TICK_MS = 1_000;

interface Machine {
  id: number;
  /** Ticks until it is available; undefined: it got nothing. */
  wait: number | undefined;
}

interface Member {
  name: string;
  cost: number;
  max: number;
  /** How many machines it can really give; the planner does not know. */
  room: number;
  /** Ticks a machine takes to come up. */
  slow: number;
  machines: Machine[];
  state: MemberState;
  since: number;
}

/** A pool with members of hidden capacity, and a clock: does what the controllers do with a plan. */
class World {
  nowMs = 0;
  #ids = 0;
  readonly members: Member[];
  replicas: number;
  readonly #strategy: Strategy;
  readonly #moving: number;

  constructor(members: Member[], replicas: number, strategy: Strategy, moving: number) {
    this.members = members;
    this.replicas = replicas;
    this.#strategy = strategy;
    this.#moving = moving;
  }

  available(): number[] {
    return this.members.flatMap(({ machines }) => machines.filter(({ wait }) => wait === 0).map(({ id }) => id));
  }

  spread(): number[] {
    return this.members.map(({ machines }) => machines.filter(({ wait }) => wait === 0).length);
  }

  /** One second: plans, carries the plan out, lets machines come up. Returns the working machines that were given up. */
  tick(): number[] {
    const before = this.available();
    const views = this.members.map((member) => this.#view(member));
    const recoveredAt = new Map(
      this.members.flatMap((member, i) => {
        if (views[i]?.health !== "Good" || member.state === "Active") return [];
        return [[member.name, member.state === "CoolingDown" ? member.since : this.nowMs]];
      }),
    );
    const plan = planPool({
      replicas: this.replicas,
      strategy: this.#strategy,
      members: views,
      maxUnavailable: this.#moving,
      returnAfterMs: RETURN_MS,
      nowMs: this.nowMs,
      recoveredAt,
    });
    const sum = plan.members.reduce((total, { desired }) => total + desired, 0);
    if (sum > this.replicas + Math.max(1, this.#moving))
      throw new Error(`${sum} machines for ${this.replicas} replicas`);
    for (const [i, member] of this.members.entries()) {
      const planned = plan.members[i];
      if (planned === undefined) continue;
      if (member.state !== planned.state) member.since = this.nowMs;
      member.state = planned.state;
      this.#scale(member, planned.desired);
    }
    const after = new Set(this.available());
    this.nowMs += TICK_MS;
    for (const member of this.members) this.#pass(member);
    return before.filter((id) => !after.has(id));
  }

  #view({ name, cost, max, machines }: Member): MemberView {
    const starved = machines.filter(({ wait }) => wait === undefined).length;
    const available = machines.filter(({ wait }) => wait === 0).length;
    const view = { name, cost, max, min: 0, weight: 1, current: machines.length, available };
    if (starved === 0) return { ...view, health: "Good" };
    return { ...view, health: "Full", working: machines.length - starved };
  }

  #scale(member: Member, count: number): void {
    // Those that got nothing go first, then those that come up.
    member.machines.sort((a, b) => rank(a) - rank(b));
    member.machines.length = Math.min(member.machines.length, count);
    while (member.machines.length < count) member.machines.push({ id: this.#ids++, wait: undefined });
    this.#serve(member);
  }

  #serve({ machines, room, slow }: Member): void {
    for (const machine of machines)
      if (machine.wait === undefined && machines.filter(({ wait }) => wait !== undefined).length < room)
        machine.wait = slow;
  }

  #pass(member: Member): void {
    for (const machine of member.machines) if (machine.wait !== undefined && machine.wait > 0) machine.wait--;
    this.#serve(member);
  }
}

/** Available first, then what comes up, then what got nothing. */
const rank = ({ wait }: Machine): number => wait ?? Number.POSITIVE_INFINITY;

const arbitraryWorld = fc.record({
  rooms: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 2, maxLength: 4 }),
  slow: fc.array(fc.integer({ min: 0, max: 25 }), { minLength: 4, maxLength: 4 }),
  costs: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 4, maxLength: 4 }),
  replicas: fc.integer({ min: 0, max: 12 }),
  moving: fc.integer({ min: 0, max: 3 }),
  strategy: fc.constantFrom("Cheapest" as const, "Ordered" as const, "Weighted" as const),
  /** Capacity that comes and goes, and pools that grow and shrink. */
  changes: fc.array(
    fc.record({
      after: fc.integer({ min: 1, max: 60 }),
      member: fc.integer({ min: 0, max: 3 }),
      room: fc.integer({ min: 0, max: 8 }),
      replicas: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
    }),
    { maxLength: 4 },
  ),
});

function worldOf(
  o: { rooms: number[]; slow: number[]; costs: number[] } & Pick<World, "replicas">,
  strategy: Strategy,
  moving: number,
): World {
  const members = o.rooms.map((room, i) => ({
    name: `m${i}`,
    cost: o.costs[i] ?? 0,
    max: 100,
    room,
    slow: o.slow[i] ?? 0,
    machines: [],
    state: "Active" as const,
    since: 0,
  }));
  return new World(members, o.replicas, strategy, moving);
}

test("a machine that works is never given up while it is needed, whatever capacity does", () => {
  fc.assert(
    fc.property(arbitraryWorld, ({ changes, strategy, moving, ...rest }) => {
      const world = worldOf(rest, strategy, moving);
      for (const change of [...changes, { after: 60, member: 9, room: 0, replicas: undefined }]) {
        for (let i = 0; i < change.after; i++) {
          const working = world.available().length;
          const lost = world.tick();
          if (lost.length > Math.max(0, working - world.replicas))
            throw new Error(`gave up ${lost.length} of ${working}`);
        }
        const member = world.members[change.member];
        if (member !== undefined) member.room = change.room;
        world.replicas = change.replicas ?? world.replicas;
      }
    }),
  );
});

test("it settles where the strategy wants it as far as there is room, and probing a full member moves no machine", () => {
  fc.assert(
    fc.property(arbitraryWorld, ({ strategy, moving, ...rest }) => {
      const world = worldOf(rest, strategy, moving);
      for (let i = 0; i < 800; i++) world.tick();
      const total = rest.rooms.reduce((sum, room) => sum + room, 0);
      const settled = world.available();
      expect(settled).toHaveLength(Math.min(total, world.replicas));
      if (strategy !== "Weighted") {
        const order = world.members.map((member, i) => ({ cost: strategy === "Cheapest" ? member.cost : 0, i }));
        let left = world.replicas;
        const best = new Map<number, number>();
        for (const { i } of order.sort((a, b) => a.cost - b.cost)) {
          best.set(i, Math.min(left, rest.rooms[i] ?? 0));
          left -= best.get(i) ?? 0;
        }
        expect(world.spread()).toEqual(world.members.map((_, i) => best.get(i)));
      }
      const lost = Array.from({ length: 100 }, () => world.tick());
      expect(lost.flat()).toEqual([]);
    }),
    { numRuns: 50 },
  );
});

test("capacity that comes back is used: one machine after another returns, and as many work all the time", () => {
  const world = worldOf({ rooms: [1, 9], slow: [3, 2], costs: [0, 1], replicas: 4 }, "Cheapest", 1);
  for (let i = 0; i < 60; i++) world.tick();
  expect(world.spread()).toEqual([1, 3]);
  const metal = world.members[0];
  if (metal !== undefined) metal.room = 4;
  for (let i = 0; i < 60; i++) {
    world.tick();
    expect(world.available().length).toBeGreaterThanOrEqual(4);
  }
  expect(world.spread()).toEqual([4, 0]);
});
