import fc from "fast-check";
import { expect, test } from "vitest";
import { deepCopy, deepEqual, deepFreeze, MAX_DEPTH } from "../json.ts";
import { applyMergePatch, createMergePatch } from "./merge-patch.ts";

// RFC 7396 appendix A, without patches that are no objects: Kubernetes refuses those.
test.each<[unknown, unknown, unknown]>([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])("%j + %j = %j", (doc, patch, result) => {
  const frozen = deepFreeze(deepCopy(doc));
  expect(applyMergePatch(frozen, deepFreeze(patch))).toEqual(result);
  expect(frozen).toEqual(doc);
});

test.each<[unknown, string]>([
  [[1], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"],
  ["x", "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"],
])("%j is no patch", (patch, message) => expect(() => applyMergePatch({}, patch)).toThrow(message));

test("prototypes stay out of reach", () => {
  const patch = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
  const result = applyMergePatch({}, patch) as object;
  expect(Object.keys(result)).toEqual(["__proto__", "constructor"]);
  expect("polluted" in {}).toBe(false);
});

const key = fc.constantFrom("a", "b", "c", "__proto__");
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ min: 0, max: 3 }),
    fc.constant(false),
    fc.array(fc.integer(), { maxLength: 2 }),
    tie("object"),
  ),
  object: fc
    .array(fc.tuple(key, tie("value")), { maxLength: 4 })
    .map((entries) =>
      JSON.parse(`{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(",")}}`),
    ),
}));
const object = value.filter((v) => typeof v === "object" && v !== null && !Array.isArray(v));

test("the patch between two objects turns one into the other", () => {
  fc.assert(
    fc.property(object, object, (from, to) => {
      const patch = createMergePatch(from, to);
      expect(patch === undefined).toBe(deepEqual(from, to));
      expect(deepEqual(applyMergePatch(from, patch ?? {}), to)).toBe(true);
    }),
  );
});

test("applying a patch twice changes nothing more", () => {
  fc.assert(
    fc.property(object, object, (doc, patch) => {
      const once = applyMergePatch(doc, patch);
      expect(deepEqual(applyMergePatch(once, patch), once)).toBe(true);
    }),
  );
});

test("a merge patch cannot set null", () => {
  expect(() => createMergePatch({}, { a: { b: null } })).toThrow('cannot set "b" to null');
});

test("a patch names only what differs", () => {
  const same = { a: { b: 1, c: [1, { d: 2 }] }, e: "x" };
  expect(createMergePatch(same, structuredClone(same))).toBeUndefined();
  expect(createMergePatch(same, { ...same, a: { b: 2, c: [1, { d: 2 }] } })).toEqual({ a: { b: 2 } });
  expect(createMergePatch(same, { a: { ...same.a, c: [1, { d: 3 }] } })).toEqual({ a: { c: [1, { d: 3 }] }, e: null });
});

test("refuses objects that are nested too deeply", () => {
  const nest = (depth: number): object => (depth === 0 ? {} : { a: nest(depth - 1) });
  const deep = (levels: number) => () => [applyMergePatch({}, nest(levels)), createMergePatch({}, nest(levels))];
  expect(deep(MAX_DEPTH)).not.toThrow();
  expect(() => applyMergePatch({}, nest(MAX_DEPTH + 1))).toThrow();
  expect(() => createMergePatch({}, { b: nest(MAX_DEPTH + 1) })).toThrow();
});
