import fc from "fast-check";
import { expect, test } from "vitest";
import { deepCopy, deepEqual, deepFreeze } from "../json.ts";
import { ApiError } from "../status.ts";
import { applyJsonPatch } from "./json-patch.ts";

// RFC 6902 appendix A, and what upstream's library does beyond it.
test.each<[string, unknown, unknown[], unknown]>([
  ["A.1 add a member", { foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], { baz: "qux", foo: "bar" }],
  [
    "A.2 add an item",
    { foo: ["bar", "baz"] },
    [{ op: "add", path: "/foo/1", value: "qux" }],
    { foo: ["bar", "qux", "baz"] },
  ],
  ["A.3 remove a member", { baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
  ["A.4 remove an item", { foo: ["bar", "qux", "baz"] }, [{ op: "remove", path: "/foo/1" }], { foo: ["bar", "baz"] }],
  [
    "A.5 replace",
    { baz: "qux", foo: "bar" },
    [{ op: "replace", path: "/baz", value: "boo" }],
    { baz: "boo", foo: "bar" },
  ],
  [
    "A.6 move a member",
    { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
    [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
    { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } },
  ],
  [
    "A.7 move an item",
    { foo: ["all", "grass", "cows", "eat"] },
    [{ op: "move", from: "/foo/1", path: "/foo/3" }],
    { foo: ["all", "cows", "eat", "grass"] },
  ],
  [
    "A.8 test",
    { baz: "qux", foo: ["a", 2, "c"] },
    [
      { op: "test", path: "/baz", value: "qux" },
      { op: "test", path: "/foo/1", value: 2 },
    ],
    { baz: "qux", foo: ["a", 2, "c"] },
  ],
  [
    "A.10 add nested",
    { foo: "bar" },
    [{ op: "add", path: "/child", value: { grandchild: {} } }],
    { foo: "bar", child: { grandchild: {} } },
  ],
  ["A.14 escapes", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
  [
    "A.16 append",
    { foo: ["bar"] },
    [{ op: "add", path: "/foo/-", value: ["abc", "def"] }],
    { foo: ["bar", ["abc", "def"]] },
  ],
  [
    "copy",
    { a: { b: 1 } },
    [
      { op: "copy", from: "/a", path: "/c" },
      { op: "replace", path: "/a/b", value: 2 },
    ],
    { a: { b: 2 }, c: { b: 1 } },
  ],
  [
    "negative index",
    { a: [1, 2, 3] },
    [
      { op: "remove", path: "/a/-1" },
      { op: "replace", path: "/a/-2", value: 9 },
    ],
    { a: [9, 2] },
  ],
  ["insert before the last", { a: [1, 2] }, [{ op: "add", path: "/a/-2", value: 9 }], { a: [1, 9, 2] }],
  ["replace what is missing", {}, [{ op: "replace", path: "/a", value: 1 }], { a: 1 }],
  ["test null on what is missing", {}, [{ op: "test", path: "/a", value: null }], {}],
  ["whole document", { a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }], { b: 2 }],
  ["empty names", { "": 1 }, [{ op: "add", path: "/", value: 2 }], { "": 2 }],
  ["no operations", { a: 1 }, [], { a: 1 }],
])("%s", (_, doc, patch, result) => {
  const frozen = deepFreeze(deepCopy(doc));
  expect(applyJsonPatch(frozen, deepFreeze(patch))).toEqual(result);
  expect(frozen).toEqual(doc);
});

test.each<[unknown, unknown[]]>([
  [{ a: 1 }, [{ op: "test", path: "/a", value: 2 }]],
  [{ a: 1 }, [{ op: "remove", path: "/b" }]],
  [{ a: 1 }, [{ op: "add", path: "/b/c", value: 1 }]],
  [{ a: [1] }, [{ op: "add", path: "/a/2", value: 1 }]],
  [{ a: [1] }, [{ op: "replace", path: "/a/1", value: 1 }]],
  [{ a: [1] }, [{ op: "remove", path: "/a/-2" }]],
  [{ a: [1] }, [{ op: "remove", path: "/a/x" }]],
  [{ a: [1] }, [{ op: "add", path: "/a/01", value: 1 }]],
  [{ a: 1 }, [{ op: "frob", path: "/a" }]],
  [{ a: 1 }, [{ path: "/a" }]],
  [{ a: 1 }, [{ op: "add", path: "a", value: 1 }]],
  [{ a: 1 }, [{ op: "remove", path: "" }]],
  [{ a: "text" }, [{ op: "add", path: "/a/b", value: 1 }]],
])("%j %j cannot be carried out: 422", (doc, patch) => {
  expect(() => applyJsonPatch(doc, patch)).toThrow("the server rejected our request due to an error in our request");
  expect(() => applyJsonPatch(doc, patch)).toThrow(expect.objectContaining({ code: 422, reason: "Invalid" }));
});

test.each<[unknown, string]>([
  [
    { op: "remove" },
    "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
  ],
  [[1], "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"],
])("%j is no patch: 400", (patch, message) => {
  expect(() => applyJsonPatch({}, patch)).toThrow(message);
});

test("too many operations, and copies that double", () => {
  const many = Array.from({ length: 10_001 }, () => ({ op: "add", path: "/a", value: 1 }));
  expect(() => applyJsonPatch({}, many)).toThrow("The allowed maximum operations in a JSON patch is 10000, got 10001");
  const doubling = Array.from({ length: 40 }, (_, i) => ({ op: "copy", from: "/a", path: `/a/${i}` }));
  expect(() => applyJsonPatch({ a: {} }, doubling)).toThrow(ApiError);
});

test("patches that would block for long are refused", () => {
  const large = Array.from({ length: 100_000 }, (_, i) => i);
  const shifts = Array.from({ length: 9_000 }, () => ({ op: "add", path: "/a/0", value: 1 }));
  expect(() => applyJsonPatch({ a: large }, shifts)).toThrow(expect.objectContaining({ code: 422 }));
  const tests = Array.from({ length: 9_000 }, () => ({ op: "test", path: "/a", value: large }));
  expect(() => applyJsonPatch({ a: large }, tests)).toThrow(expect.objectContaining({ code: 422 }));
});

test("prototypes stay out of reach", () => {
  expect(() => applyJsonPatch({}, [{ op: "add", path: "/__proto__/polluted", value: true }])).toThrow(ApiError);
  expect(() => applyJsonPatch({}, [{ op: "add", path: "/constructor/prototype/polluted", value: true }])).toThrow(
    ApiError,
  );
  const result = applyJsonPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]) as object;
  expect(Object.keys(result)).toEqual(["__proto__"]);
  expect("polluted" in {}).toBe(false);
});

test("adding and removing a field gives the document back", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (doc, key, value) => {
      fc.pre(!Object.hasOwn(doc, key));
      const path = `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const added = applyJsonPatch(doc, [
        { op: "add", path, value },
        { op: "test", path, value },
      ]);
      expect(deepEqual(applyJsonPatch(added, [{ op: "remove", path }]), doc)).toBe(true);
    }),
  );
});
