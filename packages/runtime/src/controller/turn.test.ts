import { type Clock } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { Turn } from "./turn.ts";

/** A clock whose timers fire when told, however much time passed. */
function handClock() {
  const timers: (() => void)[] = [];
  const state = { now: 0 };
  const clock: Clock = {
    now: () => state.now,
    monotonic: () => state.now,
    after: (_, fire) => {
      timers.push(fire);
      return () => undefined;
    },
  };
  return { clock, state, goRound: () => timers.splice(0).forEach((fire) => fire()), timers };
}

test("work stops after a slice and goes on when the event loop went round", () => {
  const { clock, state, goRound, timers } = handClock();
  const turn = new Turn(clock, 10);
  const resumed: string[] = [];
  expect(turn.mayRun()).toBe(true);
  state.now = 9;
  expect(turn.mayRun()).toBe(true);
  state.now = 10;
  expect(turn.mayRun()).toBe(false);
  turn.whenFree(() => resumed.push("a"));
  turn.whenFree(() => resumed.push("b"));
  expect(timers).toHaveLength(1);
  goRound();
  expect(resumed).toEqual(["a", "b"]);
  expect(turn.mayRun()).toBe(true);
});

test("nothing to do, no timer", () => {
  const { clock, goRound, timers } = handClock();
  const turn = new Turn(clock);
  turn.mayRun();
  goRound();
  expect(timers).toHaveLength(0);
});

test("when time is short lower ranks go first, and a higher one that waited long goes once before them", () => {
  const { clock, state, goRound } = handClock();
  const turn = new Turn(clock, 10);
  const slices: string[] = [];
  /** Has always a slice's worth of work, and more. */
  const work = (name: string, rank: number) => {
    const run = (): void => {
      if (turn.mayRun(rank)) {
        slices.push(name);
        state.now += 10;
      }
      turn.whenFree(run, rank);
    };
    return run;
  };
  work("part", 0)();
  work("whole", 3)();
  for (let round = 0; round < 40; round++) goRound();
  const first = slices.indexOf("whole");
  expect(first).toBeGreaterThan(20);
  expect(slices.slice(first + 1, first + 10)).not.toContain("whole");
});

test("changes of wholes wait for company only while rounds are long", () => {
  const { clock, state, goRound } = handClock();
  const turn = new Turn(clock, 10);
  expect(turn.holdMs(2)).toBe(0);
  for (let round = 0; round < 20; round++) {
    turn.mayRun();
    state.now += 100;
    goRound();
  }
  expect(turn.holdMs(0)).toBe(0);
  expect(turn.holdMs(2)).toBeGreaterThan(400);
  state.now += 2000;
  expect(turn.holdMs(2)).toBe(0);
});
