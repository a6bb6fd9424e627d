import fc from "fast-check";
import { expect, test } from "vitest";
import { compareKeys } from "./go-yaml-keys.ts";

// The order that go-yaml's own test of sorted keys expects.
const ORDERED = "1 2 3.1 4.1 10.1 11 12 a0 a1 a2 a10 a11 b1 b10 b11 c1 c2".split(" ");

test("sorts numbers by value and letters behind the rest", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(ORDERED, { minLength: ORDERED.length }), (shuffled) => {
      expect(shuffled.toSorted(compareKeys)).toEqual(ORDERED);
    }),
  );
});

const key = fc
  .array(fc.constantFrom("a", "B", "é", "0", "1", "9", "-", ".", "_"), { maxLength: 5 })
  .map((all) => all.join(""));

test("is antisymmetric, and zero for equal keys only", () => {
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(-Math.sign(compareKeys(b, a)) + 0);
      expect(compareKeys(a, b) === 0).toBe(a === b);
    }),
  );
});
