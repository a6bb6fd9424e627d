import fc from "fast-check";
import { expect, test } from "vitest";
import { ApiError } from "./status.ts";
import { parseYaml, parseYamlDocuments, toYaml } from "./yaml.ts";

test.each<[string, unknown]>([
  ["a: yes", { a: true }],
  ["a: off", { a: false }],
  ['a: "yes"', { a: "yes" }],
  ["a: 012", { a: 10 }],
  ["a: 2001-01-01", { a: "2001-01-01" }],
  ["a: 2001-01-01T10:00:00Z", { a: "2001-01-01T10:00:00Z" }],
  ["a: 1:30", { a: "1:30" }],
  ["a: ~", { a: null }],
  ["a: 1.50", { a: 1.5 }],
  ["1: x", { "1": "x" }],
  ["a: &x {b: 1}\nc: *x", { a: { b: 1 }, c: { b: 1 } }],
  ["a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", { a: { b: 1 }, c: { b: 1, d: 2 } }],
  ["a: |\n  x\n  y\n", { a: "x\ny\n" }],
  ['{"a": [1, {"b": null}]}', { a: [1, { b: null }] }],
  ["", null],
])("%j", (text, value) => expect(parseYaml(text)).toEqual(value));

test("streams of documents skip empty ones", () => {
  expect(parseYamlDocuments("---\na: 1\n---\n# nothing\n---\nb: 2\n")).toEqual([{ a: 1 }, { b: 2 }]);
  expect(() => parseYaml("a: 1\n---\nb: 2")).toThrow("expected one YAML document, found 2");
});

test("errors name the place; bombs and deep nesting are refused", () => {
  expect(() => parseYaml("a: [1")).toThrow(/line 1/);
  expect(() => parseYaml("a: 1\na: 2")).toThrow(ApiError);
  const bomb = `a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(",")}]`).join("\n")}`;
  expect(() => parseYaml(bomb)).toThrow(ApiError);
  expect(() => parseYaml("[".repeat(20_000))).toThrow(ApiError);
});

test("__proto__ is a key like any other", () => {
  expect(Object.keys(parseYaml("__proto__: {polluted: true}") as object)).toEqual(["__proto__"]);
  expect("polluted" in {}).toBe(false);
});

test("texts that a 1.1 reader would misread are quoted", () => {
  expect(toYaml({ a: "yes", b: "012", c: "1:30", d: "2001-01-01", e: "plain" })).toBe(
    'a: "yes"\nb: "012"\nc: "1:30"\nd: "2001-01-01"\ne: plain\n',
  );
});

test("what is written is read back", () => {
  const value = fc.jsonValue({ maxDepth: 3 }).filter((v) => !JSON.stringify(v).includes("__proto__"));
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), value), (object) => {
      expect(JSON.stringify(parseYaml(toYaml(object)) ?? {})).toBe(JSON.stringify(JSON.parse(JSON.stringify(object))));
    }),
    { numRuns: 50 },
  );
});

test("rejects duplicate keys with Go's message, however many there are", () => {
  expect(() => parseYaml("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n")).toThrow(
    'error converting YAML to JSON: yaml: unmarshal errors:\n  line 5: key "c" already set in map',
  );
  const many = Array.from({ length: 5000 }, (_, i) => `k${i}: 1`).join("\n");
  expect(Object.keys(parseYaml(many) as object)).toHaveLength(5000);
});

test.each([
  ["brackets", "[".repeat(8_000)],
  ["brackets by the hundred thousand", "[".repeat(100_000)],
  ["dashes", `${"- ".repeat(4_000)}x`],
  ["question marks", `${"? ".repeat(4_000)}x`],
  ["braces", `${"{a: ".repeat(2_000)}1${"}".repeat(2_000)}`],
])("%s nested so deep that they would crash the process are rejected before they are composed", (_name, text) => {
  expect(() => parseYaml(text)).toThrow("nested too deeply");
});

test("what is nested less deep is read", () => {
  expect(parseYaml(`${"- ".repeat(300)}x`)).toHaveLength(1);
  expect(parseYaml(`${"{a: ".repeat(300)}1${"}".repeat(300)}`)).toHaveProperty("a.a.a");
});

test("control characters are refused, also where the text is JSON", () => {
  expect(() => parseYaml('{"a":"\u0080"}')).toThrow("control characters are not allowed");
  expect(parseYaml('{"a":"\\u0080"}')).toEqual({ a: "\u0080" });
});
