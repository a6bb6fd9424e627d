import fc from "fast-check";
import { expect, test } from "vitest";
import { deepCopy, deepEqual, deepFreeze, isObject, setOwn, shareEqualParts, stableStringify } from "./json.ts";
import { ApiError } from "./status.ts";

const json = fc.jsonValue({ maxDepth: 4 });

test("a copy is equal and shares nothing", () => {
  fc.assert(
    fc.property(json, (value) => {
      const copy = deepCopy(deepFreeze(value));
      expect(deepEqual(copy, value)).toBe(true);
      expect(stableStringify(copy)).toBe(stableStringify(value));
      if (typeof copy === "object" && copy !== null) {
        expect(copy).not.toBe(value);
        expect(Object.isFrozen(copy)).toBe(false);
      }
    }),
  );
});

test("a copy has no properties that are undefined", () => {
  expect(deepCopy({ a: undefined, b: [{ c: undefined, d: null }] })).toStrictEqual({ b: [{ d: null }] });
});

test("equality agrees with the sorted text", () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(deepEqual(a, b)).toBe(stableStringify(a) === stableStringify(b));
    }),
  );
});

test("sharing equal parts changes nothing, and leaves only what differs to be compared", () => {
  fc.assert(
    fc.property(json, json, json, (a, b, same) => {
      const old = deepFreeze({ a, same, list: [same, a] });
      const next = { a: b, same: deepCopy(same), list: [deepCopy(same), b] };
      const text = stableStringify(next);
      const shared = shareEqualParts(next, old) as typeof next;
      expect(stableStringify(shared)).toBe(text);
      expect(shared === old).toBe(deepEqual(a, b));
      expect(shared.same).toBe(old.same);
      expect(shared.list[0]).toBe(old.list[0]);
    }),
  );
  const frozen = deepFreeze({ a: { b: 1 } });
  expect(shareEqualParts(frozen, { a: { b: 1 }, c: 2 })).toBe(frozen);
});

test.each([
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: undefined }, { b: undefined }, true],
  [{ a: null }, {}, false],
  [{ a: 1 }, { b: 1 }, false],
  [{}, [], false],
  [[1, 2], [2, 1], false],
  [{ constructor: 1 }, {}, false],
  [JSON.parse('{"__proto__":{}}'), {}, false],
  [JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}'), true],
])("%j equals %j: %s", (a, b, expected) => {
  expect(deepEqual(a, b)).toBe(expected);
  expect(deepEqual(b, a)).toBe(expected);
});

test("__proto__ is a key like any other", () => {
  const value = JSON.parse('{"__proto__":{"polluted":true},"a":1}');
  const copy = deepCopy(value);
  expect(Object.keys(copy)).toEqual(["__proto__", "a"]);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
  const object = {};
  setOwn(object, "__proto__", { polluted: true });
  expect(Object.keys(object)).toEqual(["__proto__"]);
  expect("polluted" in {}).toBe(false);
});

test("deep nesting fails with an error that says so", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 2000; i++) deep = [deep];
  let same: unknown = 1;
  for (let i = 0; i < 2000; i++) same = [same];
  for (const run of [
    () => deepCopy(deep),
    () => deepFreeze(deep),
    () => stableStringify(deep),
    () => deepEqual(deep, same),
    () => shareEqualParts(deep, same),
  ]) {
    expect(run).toThrow(ApiError);
    expect(run).toThrow("nested deeper than 1000 levels");
  }
});

test("objects are neither null nor lists", () => {
  expect([{}, [], null, "x", undefined].map(isObject)).toEqual([true, false, false, false, false]);
});
