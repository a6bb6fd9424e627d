import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../status.ts";
import {
  decodeFieldSet,
  difference,
  encodeFieldSet,
  exclude,
  type FieldSet,
  intersection,
  isEmptySet,
  LEAF,
  printPaths,
  setOfPaths,
  union,
} from "./field-set.ts";

const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'v:"y"', "v:1");
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const set = fc.array(path, { maxLength: 8 }).map(fromPaths);

function fromPaths(paths: readonly (readonly string[])[]): FieldSet {
  let out: FieldSet = LEAF;
  for (const p of paths)
    out = union(
      out,
      p.reduceRight<FieldSet>((node, e) => ({ [e]: node }), LEAF),
    );
  return out;
}

const members = (s: FieldSet): Set<string> => new Set(printPaths(s));
const same = (a: FieldSet, b: FieldSet): void => expect(encodeFieldSet(a)).toEqual(encodeFieldSet(b));

describe("sets of paths behave as sets", () => {
  test("union, intersection and difference by membership", () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const [ma, mb] = [members(a), members(b)];
        expect(members(union(a, b))).toEqual(new Set([...ma, ...mb]));
        expect(members(intersection(a, b))).toEqual(new Set([...ma].filter((p) => mb.has(p))));
        expect(members(difference(a, b))).toEqual(new Set([...ma].filter((p) => !mb.has(p))));
        expect(members(exclude(a, b))).toEqual(
          new Set([...ma].filter((p) => ![...mb].some((q) => p === q || below(p, q)))),
        );
      }),
    );
  });

  test("laws", () => {
    fc.assert(
      fc.property(set, set, set, (a, b, c) => {
        same(union(a, b), union(b, a));
        same(union(a, union(b, c)), union(union(a, b), c));
        same(union(a, a), a);
        same(intersection(a, union(b, c)), union(intersection(a, b), intersection(a, c)));
        same(union(difference(a, b), intersection(a, b)), a);
        expect(isEmptySet(difference(a, a))).toBe(true);
      }),
    );
  });

  test("encoding and decoding are inverse", () => {
    fc.assert(
      fc.property(set, (a) => {
        same(decodeFieldSet(JSON.parse(JSON.stringify(encodeFieldSet(a)))), a);
      }),
    );
  });
});

function below(p: string, q: string): boolean {
  return p.startsWith(q) && /^[.[]/.test(p.slice(q.length));
}

test("fieldsV1 is read in any spelling and written in one", () => {
  const fields = { "f:spec": { 'k:{ "b":1, "a":"<" }': { ".": {} }, ".": {}, 'v:"x"': {} }, "f:a": { ".": {} } };
  expect(JSON.stringify(encodeFieldSet(decodeFieldSet(fields)))).toBe(
    '{"f:a":{},"f:spec":{".":{},"k:{\\"a\\":\\"\\\\u003c\\",\\"b\\":1}":{},"v:\\"x\\"":{}}}',
  );
});

test.each([[{ x: {} }], [{ "f:a": 1 }], [{ "k:[]": {} }], [{ "v:{": {} }], [{ "i:x": {} }], [[]], [null], ["x"]])(
  "%j is no set",
  (fields) => {
    expect(() => decodeFieldSet(fields)).toThrow(ApiError);
  },
);

test("paths print as in conflicts", () => {
  const s = fromPaths([
    ["f:spec", "f:items", 'k:{"name":"x","port":80}', "f:value"],
    ["f:spec", "f:a"],
    ["f:set", 'v:"y"'],
    ["f:l", "i:0"],
  ]);
  expect(printPaths(s)).toEqual([".l[0]", '.set[="y"]', ".spec.a", '.spec.items[name="x",port=80].value']);
  expect(printPaths(setOfPaths([["status"], ["metadata", "name"]]))).toEqual([".status", ".metadata.name"]);
});

test("a set nested without end is refused", () => {
  let deep: unknown = {};
  for (let i = 0; i < 2000; i++) deep = { "f:a": deep };
  expect(() => decodeFieldSet(deep)).toThrow("nested deeper");
});
