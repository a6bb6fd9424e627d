import { expect, test } from "vitest";
import { type LabelOperator, labelRequirement, printRequirement, requirementMatches } from "./label-requirement.ts";

// The texts of k8s.io/apimachinery's labels.NewRequirement.
test.each<[string, LabelOperator, string[], string]>([
  ["a", "in", [], "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"],
  ["a", "notin", [], "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"],
  ["a", "exists", ["x"], 'values: Invalid value: ["x"]: values set must be empty for exists and does not exist'],
  ["a", "!", ["x"], 'values: Invalid value: ["x"]: values set must be empty for exists and does not exist'],
  ["a", "gt", [], "values: Invalid value: []: for 'Gt', 'Lt' operators, exactly one value is required"],
  [
    "a",
    "lt",
    ["1", "2"],
    "values: Invalid value: [\"1\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value is required",
  ],
  ["a", "gt", ["x"], "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
  ["a", "lt", ["9223372036854775808"], "the value must be an integer"],
  ["a", "=", [], "values: Invalid value: []: exact-match compatibility requires one single value"],
  ["a", "!=", ["x", "y"], 'values: Invalid value: ["x","y"]: exact-match compatibility requires one single value'],
  ["a b", "exists", [], 'key: Invalid value: "a b": name part must consist of alphanumeric characters'],
  ["a", "in", ["x", "-"], 'values[1][a]: Invalid value: "-": a valid label must be an empty string'],
])("refuses %s %s %j", (key, operator, values, message) => {
  expect(() => labelRequirement(key, operator, values)).toThrow(message);
});

test("lists several errors", () => {
  expect(() => labelRequirement("-", "in", [])).toThrow(/^\[key: .*, values: .*\]$/);
});

test.each<[LabelOperator, string[], string, (string | undefined)[], (string | undefined)[]]>([
  ["=", ["x"], "a=x", ["x"], ["y", undefined]],
  ["==", ["x"], "a==x", ["x"], ["y", undefined]],
  ["!=", ["x"], "a!=x", ["y", undefined], ["x"]],
  ["in", ["y", "x"], "a in (x,y)", ["x", "y"], ["z", undefined]],
  ["notin", ["y", "x"], "a notin (x,y)", ["z", undefined], ["x", "y"]],
  ["exists", [], "a", ["x", ""], [undefined]],
  ["!", [], "!a", [undefined], ["x", ""]],
  ["gt", ["5"], "a>5", ["6", "+6"], ["5", "-6", "x", "", undefined, "99999999999999999999"]],
  ["lt", ["5"], "a<5", ["4", "-6"], ["5", "6", "x", undefined]],
])("%s %j prints as %s and decides", (operator, values, text, matching, others) => {
  const requirement = labelRequirement("a", operator, values);
  expect(printRequirement(requirement)).toBe(text);
  const labels = (value: string | undefined): Record<string, string> =>
    value === undefined ? { b: "x" } : { a: value };
  for (const value of matching) expect([value, requirementMatches(requirement, labels(value))]).toEqual([value, true]);
  for (const value of others) expect([value, requirementMatches(requirement, labels(value))]).toEqual([value, false]);
});

test("takes inherited properties for no labels", () => {
  expect(requirementMatches(labelRequirement("constructor", "exists", []), {})).toBe(false);
  expect(requirementMatches(labelRequirement("a", "exists", []), undefined)).toBe(false);
});
