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
