import fc from "fast-check";
import { expect, test } from "vitest";
import { lineDiff, withContext } from "./line-diff.ts";

const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 }).map((lines) => lines.join("\n"));

test("kept and removed lines form the old text, kept and added lines the new one", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after);
      const of = (...types: string[]): string =>
        lines
          .filter((line) => types.includes(line.type))
          .map((line) => line.text)
          .join("\n");
      expect(of("same", "removed")).toBe(before);
      expect(of("same", "added")).toBe(after);
      if (before === after) expect(lines.every((line) => line.type === "same")).toBe(true);
    }),
  );
});

test("a changed line is one removal and one addition", () => {
  const lines = lineDiff("spec:\n  replicas: 3\n  x: 1", "spec:\n  replicas: 5\n  x: 1");
  expect(lines.map((line) => `${line.type[0]}${line.text}`)).toEqual([
    "sspec:",
    "r  replicas: 3",
    "a  replicas: 5",
    "s  x: 1",
  ]);
});

test("omits lines far from a change", () => {
  const before = Array.from({ length: 20 }, (_, i) => `l${i}`);
  const after = before.with(10, "changed");
  const shown = withContext(lineDiff(before.join("\n"), after.join("\n")), 2);
  expect(shown.map((line) => line?.text)).toEqual([undefined, "l8", "l9", "l10", "changed", "l11", "l12", undefined]);
});
