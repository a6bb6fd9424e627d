import { expect, test } from "vitest";
import { addWarning } from "./warnings.ts";

test("warnings come once, in order", () => {
  const warnings: string[] = [];
  for (const text of ["a", "b", "a", ""]) addWarning(warnings, text);
  expect(warnings).toEqual(["a", "b"]);
});

test("beyond four KiB each is cut, and what follows is dropped", () => {
  const warnings: string[] = [];
  for (let i = 0; i < 10_000; i++) addWarning(warnings, `${i} ${"é".repeat(1000)}`);
  expect(warnings.every((text) => text.length === 256)).toBe(true);
  expect(warnings).toHaveLength(16);
});
