import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { badRequest } from "./errors.ts";
import { parseFieldSelector } from "./field-selectors.ts";
import { labelSelectorFromObject, parseLabelSelector, selectorOrProblem } from "./selectors.ts";
import { ApiError } from "./status.ts";

describe("texts a real kube-apiserver answers to bad label selectors", () => {
  test.each([
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a=b,", "found '', expected: identifier after ','"],
    [",a", "found ',', expected: !, identifier, or 'end of string'"],
    ["a in b", "unable to parse requirement: found 'b' expected: '('"],
    ["a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ["!a=b", "found '=', expected: ',' or 'end of string'"],
    [
      "a>x",
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    ["a=b=c", "found '=', expected: ',' or 'end of string'"],
    ["a!", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
    ["a=(", "unable to parse requirement: found '(', expected: identifier"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    ["a===b", "unable to parse requirement: found '=', expected: identifier"],
    ["a=!b", "unable to parse requirement: found '!', expected: identifier"],
    ["a in (!b)", "unable to parse requirement: found '!', expected: ',', ')' or identifier"],
    ["a in (b,!c)", "unable to parse requirement: found '!', expected: ',', or identifier"],
    [
      "-x=1",
      `unable to parse requirement: <nil>: Invalid value: "-x": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    ],
    [
      "a=-b",
      `unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    ],
  ])("%s", (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(badRequest(message));
    expect(() => parseLabelSelector(text)).toThrow(ApiError);
  });
});

describe("matching", () => {
  test.each([
    ["", {}, true],
    ["a", { a: "" }, true],
    ["a", {}, false],
    ["!a", {}, true],
    ["!a", { a: "1" }, false],
    ["a=1", { a: "1" }, true],
    ["a==1", { a: "2" }, false],
    ["a=", { a: "" }, true],
    ["a!=1", {}, true],
    ["a!=1", { a: "1" }, false],
    ["a in (1,2)", { a: "2" }, true],
    ["a in (1,2)", {}, false],
    ["a in ()", { a: "" }, true],
    ["a in (b,,c)", { a: "" }, true],
    ["a notin (1,2)", {}, true],
    ["a notin (1,2)", { a: "1" }, false],
    ["in in (in,notin)", { in: "notin" }, true],
    ["a>1", { a: "2" }, true],
    ["a<10", { a: "9" }, true],
    ["a>1", { a: "x" }, false],
    ["x/y=1,b", { "x/y": "1", b: "" }, true],
    ["constructor", {}, false],
    ["__proto__", {}, false],
  ])("%s on %o is %s", (text, labels, expected) => {
    if (text === "__proto__") expect(() => parseLabelSelector(text)).toThrow(ApiError);
    else expect(parseLabelSelector(text).matches(labels)).toBe(expected);
  });
  test("no labels at all", () => expect(parseLabelSelector("a!=b").matches(undefined)).toBe(true));
});

test("selectors of objects", () => {
  expect(labelSelectorFromObject(undefined).matches({ a: "b" })).toBe(false);
  expect(labelSelectorFromObject({}).matches({ a: "b" })).toBe(true);
  const selector = labelSelectorFromObject({
    matchLabels: { b: "1" },
    matchExpressions: [
      { key: "a", operator: "In", values: ["y", "x"] },
      { key: "c", operator: "DoesNotExist" },
    ],
  });
  expect(selector.toString()).toBe("a in (x,y),b=1,!c");
  expect(selector.matches({ a: "x", b: "1" })).toBe(true);
  expect(selector.matches({ a: "x", b: "1", c: "" })).toBe(false);
  expect(() => labelSelectorFromObject({ matchExpressions: [{ key: "a", operator: "Like" }] })).toThrow(
    '"Like" is not a valid label selector operator',
  );
});

const key = fc.stringMatching(/^[a-z]([-a-z0-9]{0,8}[a-z0-9])?$/).filter((k) => k !== "in" && k !== "notin");
const requirement = fc.oneof(
  fc.tuple(key, fc.constantFrom("=", "==", "!="), key).map(([k, op, v]) => `${k}${op}${v}`),
  fc
    .tuple(key, fc.constantFrom("in", "notin"), fc.uniqueArray(key, { minLength: 1, maxLength: 4 }))
    .map(([k, op, v]) => `${k} ${op} (${v.join(",")})`),
  fc.tuple(fc.constantFrom("", "!"), key).map(([not, k]) => not + k),
);

test("printing and parsing are inverse", () => {
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 5 }), fc.dictionary(key, key), (parts, labels) => {
      const once = parseLabelSelector(parts.join(","));
      const twice = parseLabelSelector(once.toString());
      expect(twice.toString()).toBe(once.toString());
      expect(twice.matches(labels)).toBe(once.matches(labels));
    }),
  );
});

test("no text crashes the parser", () => {
  const text = fc.array(fc.constantFrom("a", "in", "notin", " ", "(", ")", ",", "!", "=", "<", ">", "é", "\0"), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(text, (parts) => {
      try {
        parseLabelSelector(parts.join(""));
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
    }),
  );
});

describe("field selectors", () => {
  const get = (field: string): string | undefined => ({ "metadata.name": "a,b=c", type: "Opaque" })[field];
  test.each([
    ["", true],
    ["type=Opaque", true],
    ["type==Opaque,metadata.name!=x", true],
    ["type!=Opaque", false],
    ["metadata.name=a\\,b\\=c", true],
    ["missing=", true],
    [",type=Opaque,,", true],
  ])("%s is %s", (text, expected) => expect(parseFieldSelector(text).matches(get)).toBe(expected));
  test.each([
    ["a", "invalid selector: 'a'; can't understand 'a'"],
    ["metadata.name=a=b", "invalid field selector: unescaped character in value: 61"],
    ["metadata.name=a\\x", "invalid field selector: invalid escape sequence: \\x"],
    ["metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"],
  ])("%s is refused as upstream does", (text, message) =>
    expect(() => parseFieldSelector(text)).toThrow(badRequest(message)),
  );
  test("exact values", () => {
    expect(parseFieldSelector("metadata.name=x,a!=b").exact("metadata.name")).toBe("x");
    expect(parseFieldSelector("a!=b").exact("a")).toBeUndefined();
  });
  test("printing and parsing are inverse", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("=", "!="), (value, op) => {
        const text = `f${op}${value.replace(/[\\,=]/g, "\\$&")}`;
        const selector = parseFieldSelector(text);
        expect(selector.requirements).toEqual([{ field: "f", operator: op, value }]);
        expect(selector.toString()).toBe(text);
      }),
    );
  });
});

test("a bad selector of an object matches nothing and says what is wrong", () => {
  const bad = selectorOrProblem({ matchLabels: { a: "b c" } }, "spec.selector");
  expect(bad.problem).toMatch(/^spec\.selector is not a valid selector, correct it: .*"b c"/);
  expect([bad.matches({ a: "b c" }), bad.matches({}), bad.empty]).toEqual([false, false, false]);
  const good = selectorOrProblem({ matchLabels: { a: "b" } }, "spec.selector");
  expect([good.problem, good.matches({ a: "b" }), good.matches({}), good.toString()]).toEqual([
    undefined,
    true,
    false,
    "a=b",
  ]);
});
