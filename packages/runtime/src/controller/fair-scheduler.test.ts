import { type Clock } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { FairScheduler } from "./fair-scheduler.ts";

/** A clock whose timers fire on request, however much time passed. */
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

test("pauses work after a slice and continues in the next round of the event loop", () => {
  const { clock, state, goRound, timers } = handClock();
  const scheduler = new FairScheduler(clock, 10);
  const resumed: string[] = [];
  expect(scheduler.mayRun()).toBe(true);
  state.now = 9;
  expect(scheduler.mayRun()).toBe(true);
  state.now = 10;
  expect(scheduler.mayRun()).toBe(false);
  scheduler.whenFree(() => resumed.push("a"));
  scheduler.whenFree(() => resumed.push("b"));
  expect(timers).toHaveLength(1);
  goRound();
  expect(resumed).toEqual(["a", "b"]);
  expect(scheduler.mayRun()).toBe(true);
});

test("has no timer when there is nothing to do", () => {
  const { clock, goRound, timers } = handClock();
  const scheduler = new FairScheduler(clock);
  scheduler.mayRun();
  goRound();
  expect(timers).toHaveLength(0);
});

test("runs lower ranks first under load, and a higher one that waited long once before them", () => {
  const { clock, state, goRound } = handClock();
  const scheduler = new FairScheduler(clock, 10);
  const slices: string[] = [];
  /** Has always a slice's worth of work, and more. */
  const work = (name: string, rank: number) => {
    const run = (): void => {
      if (scheduler.mayRun(rank)) {
        slices.push(name);
        state.now += 10;
      }
      scheduler.whenFree(run, rank);
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

test("delays changes of higher ranks only while rounds are long", () => {
  const { clock, state, goRound } = handClock();
  const scheduler = new FairScheduler(clock, 10);
  expect(scheduler.holdMs(2)).toBe(0);
  for (let round = 0; round < 20; round++) {
    scheduler.mayRun();
    state.now += 100;
    goRound();
  }
  expect(scheduler.holdMs(0)).toBe(0);
  expect(scheduler.holdMs(2)).toBeGreaterThan(400);
  state.now += 2000;
  expect(scheduler.holdMs(2)).toBe(0);
});
