import { expect, test } from "vitest";
import { indentLines } from "./conditions.ts";

test("a message of blanks is taken in the time of reading it once", () => {
  // Searching for a bullet from each blank takes minutes.
  const blanks = " ".repeat(400_000);
  expect(indentLines(blanks)).toBe(` ${blanks}`);
});

test.each([
  ["plain", " plain"],
  ["* a: b", "\n  * a: b"],
  ["head\n* a", "\n  * head\n    * a"],
])("%j becomes %j", (text, expected) => {
  expect(indentLines(text)).toBe(expected);
});
