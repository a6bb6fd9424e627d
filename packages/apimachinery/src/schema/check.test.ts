import { expect, test } from "vitest";
import { longerThan } from "./check.ts";
import { compileSchema } from "./compile.ts";

test.each([
  ["", -1, true],
  ["", 0, false],
  ["a", 0, true],
  ["𝒳", 1, false],
  ["𝒳y", 1, true],
])("longerThan(%j, %d) is %j", (text, limit, expected) => {
  expect(longerThan(text, limit)).toBe(expected);
});

test("a minimum length of 0 takes the empty string, which Machines of pools have as their secret's name", () => {
  const schema = compileSchema({ type: "object", properties: { name: { type: "string", minLength: 0 } } });
  expect(schema.validate({ name: "" })).toEqual([]);
});
