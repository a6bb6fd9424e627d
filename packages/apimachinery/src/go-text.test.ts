import fc from "fast-check";
import { expect, test } from "vitest";
import { goJson, goKind, goNumber, goValue } from "./go-text.ts";

test("JSON has sorted keys and escapes what Go escapes for HTML", () => {
  expect(goJson({ b: 1, a: [{ d: null, c: "<&>\u2028\u2029" }] })).toBe(
    String.raw`{"a":[{"c":"\u003c\u0026\u003e\u2028\u2029","d":null}],"b":1}`,
  );
  expect(goJson(undefined)).toBe("null");
});

test("JSON reads back as the value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      expect(JSON.parse(goJson(json))).toEqual(JSON.parse(JSON.stringify(json)));
    }),
  );
});

// fmt.Sprintf("%v", …) of what encoding/json decodes.
test.each<[unknown, string]>([
  [null, "<nil>"],
  [undefined, "<nil>"],
  [true, "true"],
  ["a", "a"],
  [1, "1"],
  [0.5, "0.5"],
  [0.0001, "0.0001"],
  [0.00001, "1e-05"],
  [1e-10, "1e-10"],
  [999999.5, "999999.5"],
  [1000000.5, "1.0000005e+06"],
  [1234567.5, "1.2345675e+06"],
  [1e6, "1000000"],
  [[1, "a", null], "[1 a <nil>]"],
  [{ b: 2, a: { d: [], c: 1 } }, "map[a:map[c:1 d:[]] b:2]"],
])("%j prints as %s", (json, text) => expect(goValue(json)).toBe(text));

test("numbers print alike alone and in a value", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => {
      expect(goValue(n)).toBe(goNumber(n));
    }),
  );
});

test.each<[unknown, string]>([
  [[], "array"],
  ["x", "string"],
  [1, "number"],
  [true, "bool"],
])("%j is of the kind %s", (json, kind) => expect(goKind(json)).toBe(kind));
