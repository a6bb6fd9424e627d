import { expect, test } from "vitest";
import { Recent } from "./recent.ts";

test("caches recent values, evicts the oldest, and does not cache failures", () => {
  const made: string[] = [];
  const recent = new Recent<{ text: string }>(2);
  const read = (text: string) =>
    recent.of(text, () => {
      made.push(text);
      if (text === "bad") throw new Error("bad");
      return { text };
    });
  expect(read("a")).toBe(read("a"));
  read("b");
  read("c");
  read("a");
  expect(made).toEqual(["a", "b", "c", "a"]);
  expect(() => read("bad")).toThrow("bad");
  expect(() => read("bad")).toThrow("bad");
  expect(made.slice(4)).toEqual(["bad", "bad"]);
});
