import { expect, test } from "vitest";
import { KeySequence } from "./keyboard.ts";

test("recognizes keys and sequences", () => {
  const keys = new KeySequence();
  expect(keys.press("/", 0)).toBe("filter");
  expect(keys.press("g", 100)).toBeUndefined();
  expect(keys.press("c", 500)).toBe("clusters");
  expect(keys.press("c", 600)).toBe("create");
  expect(keys.press("g", 1000)).toBeUndefined();
  expect(keys.press("h", 3000)).toBeUndefined();
  expect(keys.press("g", 4000)).toBeUndefined();
  expect(keys.press("?", 4100)).toBe("help");
});
