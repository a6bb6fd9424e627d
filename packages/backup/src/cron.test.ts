import fc from "fast-check";
import { expect, test } from "vitest";
import { nextTime, parseCron } from "./cron.ts";

const at = (text: string): number => Date.parse(text);
const next = (expression: string, after: string): string | undefined => {
  const schedule = parseCron(expression);
  if (typeof schedule === "string") throw new Error(schedule);
  const time = nextTime(schedule, at(after));
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16);
};

test.each([
  ["0 3 * * *", "2026-11-16T02:59:59Z", "2026-11-16T03:00"],
  ["0 3 * * *", "2026-11-16T03:00:00Z", "2026-11-17T03:00"],
  ["*/15 * * * *", "2026-11-16T00:14:59Z", "2026-11-16T00:15"],
  ["5/20 * * * *", "2026-11-16T00:06:00Z", "2026-11-16T00:25"],
  ["30 23 31 12 *", "2026-11-16T00:00:00Z", "2026-12-31T23:30"],
  ["0 0 29 2 *", "2026-11-16T00:00:00Z", "2028-02-29T00:00"],
  ["0 9-17/4 * * mon-fri", "2026-11-13T18:00:00Z", "2026-11-16T09:00"],
  ["0 0 * * 7", "2026-11-16T00:00:00Z", "2026-11-22T00:00"],
  // With both days restricted either one suffices.
  ["0 0 13 * fri", "2026-11-16T00:00:00Z", "2026-11-20T00:00"],
  ["0 0 1,15 jan,jul *", "2026-11-16T00:00:00Z", "2027-01-01T00:00"],
  ["@hourly", "2026-11-16T00:00:00Z", "2026-11-16T01:00"],
  ["@weekly", "2026-11-16T00:00:00Z", "2026-11-22T00:00"],
  ["0 0 30 2 *", "2026-11-16T00:00:00Z", undefined],
])("%s after %s is %s", (expression, after, expected) => {
  expect(next(expression, after)).toBe(expected);
});

test.each([
  ["", "five fields"],
  ["* * * *", "five fields"],
  ["60 * * * *", "0 to 59"],
  ["* 24 * * *", "0 to 23"],
  ["* * 0 * *", "1 to 31"],
  ["* * * 13 *", "1 to 12"],
  ["* * * * 8", "0 to 7"],
  ["*/0 * * * *", "step"],
  ["5-1 * * * *", "range"],
  ["a * * * *", "0 to 59"],
  ["1,,2 * * * *", "nothing is not a value"],
])("%s is refused: %s", (expression, why) => {
  expect(parseCron(expression)).toContain(why);
});

test("returns the earliest later minute that matches", () => {
  const part = (max: number) => fc.oneof(fc.constant("*"), fc.integer({ min: 0, max }).map(String));
  const expression = fc.tuple(part(59), part(23), fc.constant("*"), fc.constant("*"), part(6)).map((p) => p.join(" "));
  fc.assert(
    fc.property(expression, fc.integer({ min: 0, max: 4e12 }), (text, after) => {
      const schedule = parseCron(text);
      if (typeof schedule === "string") throw new Error(schedule);
      const time = nextTime(schedule, after) ?? Number.NaN;
      expect(time).toBeGreaterThan(after);
      expect(time % 60_000).toBe(0);
      const middle = Math.floor((after + time) / 2);
      expect(nextTime(schedule, middle)).toBe(time);
    }),
  );
});
