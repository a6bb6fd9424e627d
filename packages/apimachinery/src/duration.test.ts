import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAge } from "./age.ts";
import { formatDuration, goDurationError, parseDuration } from "./duration.ts";

// The texts of Go's time.ParseDuration.
test.each([
  ["", 'time: invalid duration ""'],
  ["+", 'time: invalid duration "+"'],
  ["-", 'time: invalid duration "-"'],
  ["1", 'time: missing unit in duration "1"'],
  ["1.5", 'time: missing unit in duration "1.5"'],
  ["1h5", 'time: missing unit in duration "1h5"'],
  ["1d", 'time: unknown unit "d" in duration "1d"'],
  ["1h2x", 'time: unknown unit "x" in duration "1h2x"'],
  ["1constructor", 'time: unknown unit "constructor" in duration "1constructor"'],
  [".", 'time: invalid duration "."'],
  ["h", 'time: invalid duration "h"'],
  ["1h.m", 'time: invalid duration "1h.m"'],
])("refuses %j", (text, error) => expect(goDurationError(text)).toBe(error));

test.each(["0", "+0", "-0", "1ns", "1us", "1µs", "1μs", "1ms", "1s", "1m", "1h", "-1.5h", "+.5s", "5.s", "1h2m3s"])(
  "accepts %j",
  (text) => {
    expect(goDurationError(text)).toBeUndefined();
    expect(() => parseDuration(text)).not.toThrow();
  },
);

test("finds an error exactly in the texts that do not parse", () => {
  const part = fc.constantFrom("1", "02", ".", "h", "m", "s", "ms", "µs", "d", "-", "+", "0");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const text = parts.join("");
      const parses = (() => {
        try {
          parseDuration(text);
          return true;
        } catch {
          return false;
        }
      })();
      expect(goDurationError(text) === undefined).toBe(parses);
    }),
  );
});

test("parses what it prints", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), fc.constantFrom(1, 1e-3, 1e-6), (count, unit) => {
      // Within the precision of a number of milliseconds.
      const ms = Math.round(count * unit * 1e6) / 1e6;
      expect(parseDuration(formatDuration(ms))).toBeCloseTo(ms, 5);
    }),
  );
});

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

// The limits of k8s.io/apimachinery's duration.HumanDuration.
test.each([
  [-2000, "<invalid>"],
  [-1000, "0s"],
  [2 * MINUTE - 1, "119s"],
  [2 * MINUTE, "2m"],
  [10 * MINUTE - 1000, "9m59s"],
  [10 * MINUTE + 1000, "10m"],
  [3 * HOUR - 1000, "179m"],
  [3 * HOUR, "3h"],
  [8 * HOUR - 1000, "7h59m"],
  [8 * HOUR + MINUTE, "8h"],
  [2 * DAY - 1000, "47h"],
  [2 * DAY, "2d"],
  [2 * DAY + HOUR, "2d1h"],
  [8 * DAY - 1000, "7d23h"],
  [8 * DAY + HOUR, "8d"],
  [729 * DAY, "729d"],
  [730 * DAY, "2y"],
  [731 * DAY, "2y1d"],
  [(8 * 365 - 1) * DAY, "7y364d"],
  [(8 * 365 + 1) * DAY, "8y"],
])("an age of %d ms is %s", (ms, text) => expect(formatAge(ms)).toBe(text));
