import fc from "fast-check";
import { expect, test } from "vitest";
import { compileJsonPath } from "./jsonpath.ts";
import { ApiError } from "./status.ts";

const object = {
  metadata: { name: "a", labels: { "x.y/z": "dotted", "it's": "quoted" } },
  spec: {
    replicas: 3,
    flag: false,
    items: [
      { name: "a", n: 1, tags: ["p", "q"] },
      { name: "b", n: 2 },
      { name: "c", n: 3, inner: { name: "deep" } },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
    empty: null,
  },
};

test.each<[string, unknown[]]>([
  [".spec.replicas", [3]],
  ["{.spec.replicas}", [3]],
  ["$.spec.replicas", [3]],
  ["{$.spec.flag}", [false]],
  ["spec.replicas", [3]],
  [".metadata.labels.x\\.y/z", ["dotted"]],
  [".metadata.labels['x.y/z']", ["dotted"]],
  ['.metadata.labels["it\'s"]', ["quoted"]],
  [".metadata['name','labels']", ["a", object.metadata.labels]],
  [".spec.items[0].name", ["a"]],
  [".spec.items[-1].name", ["c"]],
  [".spec.items[9].name", []],
  [".spec.items[*].name", ["a", "b", "c"]],
  [".spec.items[1:].name", ["b", "c"]],
  [".spec.items[:2].name", ["a", "b"]],
  [".spec.items[0:3:2].name", ["a", "c"]],
  [".spec.items[-2:-1].name", ["b"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type=='Ready')].status", ["True"]],
  ['.status.conditions[?(@.type != "Ready")].type', ["Other"]],
  [".spec.items[?(@.n>1)].name", ["b", "c"]],
  [".spec.items[?(@.n<=2)].name", ["a", "b"]],
  [".spec.items[?(@.inner)].name", ["c"]],
  ['.spec.items[?(@.inner.name=="deep")].n', [3]],
  [".spec.items[?(@.tags[0]=='p')].name", ["a"]],
  [".spec.items..name", ["a", "b", "c", "deep"]],
  ["..inner.name", ["deep"]],
  [".metadata.*", ["a", object.metadata.labels]],
  [".missing.more", []],
  [".spec.replicas.more", []],
  [".status.empty", [null]],
  [".metadata.constructor", []],
  [".", [object]],
])("%s", (path, found) => {
  const compiled = compileJsonPath(path);
  expect(compiled.find(object)).toEqual(found);
  expect(compiled.first(object)).toEqual(found[0]);
});

test.each([".spec[", ".spec[abc]", ".a b", ".items[?(@.n=x)]", ".items[0:1:0]", "...a", ".a['x]", ".a[?(n==1)]"])(
  "%s is refused",
  (path) => {
    expect(() => compileJsonPath(path)).toThrow(ApiError);
    expect(() => compileJsonPath(path)).toThrow("invalid JSONPath");
  },
);

test("no expression crashes or hangs", () => {
  const parts = fc.array(
    fc.constantFrom("..", ".", "*", "[", "]", "a", "[*]", "[0]", "[?(@.a==1)]", "'", '"', "\\", "(", "@"),
    { maxLength: 12 },
  );
  const wide = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, { a: [1, { a: 2 }] }]));
  fc.assert(
    fc.property(parts, (tokens) => {
      try {
        compileJsonPath(tokens.join("")).find(wide);
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
    }),
  );
});

test.each<[string, string]>([
  ["<", "a"],
  ["<=", "a,b"],
  [">", "c"],
  [">=", "b,c"],
  ["==", "b"],
  ["!=", "a,c"],
])("a filter with %s 2 finds %s", (operator, names) => {
  expect(compileJsonPath(`{.spec.items[?(@.n ${operator} 2)].name}`).find(object)).toEqual(names.split(","));
});
