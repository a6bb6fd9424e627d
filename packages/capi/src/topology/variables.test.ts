import { describe, expect, test } from "vitest";
import { problemText } from "../admission/problems.ts";
import { resolveVariables } from "./variables.ts";

const definition = (name: string, openAPIV3Schema: object, required = false) =>
  ({ name, required, schema: { openAPIV3Schema } }) as Parameters<typeof resolveVariables>[0][number];

describe("variables of a topology", () => {
  const definitions = [
    definition("size", { type: "string", enum: ["small", "large"], default: "small" }),
    definition("count", { type: "integer", minimum: 1 }, true),
    definition("http", {
      type: "object",
      properties: { proxy: { type: "string" }, port: { type: "integer", default: 80 } },
    }),
  ];
  test("get their defaults, also inside", () => {
    const given = [
      { name: "count", value: 3 },
      { name: "http", value: { proxy: "p" } },
    ];
    expect(resolveVariables(definitions, given, "v")).toEqual({
      values: { count: 3, http: { proxy: "p", port: 80 }, size: "small" },
      problems: [],
    });
  });
  test.each([
    ["missing", [], /^v: Required value: required variable "count" must be set$/],
    [
      "of the wrong type",
      [{ name: "count", value: "x" }],
      /^v\[count\]\.value: Invalid value: "\\"x\\"": .*must be of type integer/,
    ],
    [
      "out of range",
      [{ name: "count", value: 0 }],
      /^v\[count\]\.value: Invalid value: "0": .*greater than or equal to 1/,
    ],
    [
      "not one of the allowed",
      [
        { name: "count", value: 1 },
        { name: "size", value: "huge" },
      ],
      /^v\[size\]\.value: Unsupported value: "huge"/,
    ],
    [
      "unknown",
      [
        { name: "count", value: 1 },
        { name: "other", value: 1 },
      ],
      /^v\[other\]: Invalid value: "1": variable is not defined$/,
    ],
  ])("%s are refused", (_name, given, expected) => {
    const result = resolveVariables(definitions, given, "v");
    expect(result.problems.map(problemText).join("\n")).toMatch(expected);
  });
  test("overrides need no required ones", () => {
    expect(resolveVariables(definitions, [{ name: "size", value: "large" }], "v", { override: true })).toEqual({
      values: { size: "large" },
      problems: [],
    });
  });
});
