import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { invalid } from "./errors.ts";
import { validateFieldManager, validateObjectMeta, validateObjectMetaUpdate } from "./meta-validation.ts";
import type { ObjectMeta } from "./object.ts";

// What a real kube-apiserver said about ConfigMaps with this metadata (`tools/record-objects`).
interface Case {
  meta: ObjectMeta;
  message?: string;
  causes?: { field: string; reason: string; message: string }[];
}
const { cases }: { cases: Case[] } = JSON.parse(
  readFileSync(new URL("../testdata/object-meta.golden.json", import.meta.url), "utf8"),
);

describe("metadata of new objects", () => {
  for (const { meta, message = "", causes = [] } of cases) {
    test(JSON.stringify(meta).slice(0, 90), () => {
      const annotations = meta.annotations?.["a"] === "<262144 bytes>" ? { a: "x".repeat(262144) } : meta.annotations;
      // The server generates names, fills the namespace and ignores managedFields it cannot read before it validates.
      const { managedFields: _, ...given } = meta;
      const name = meta.name ?? (meta.generateName === undefined ? "" : `${meta.generateName}x`);
      const full = { ...given, name, namespace: "default", ...(annotations === undefined ? {} : { annotations }) };
      const errors = validateObjectMeta(full, { namespaced: true });
      const status = invalid({ group: "", kind: "ConfigMap" }, name, errors).status;
      // Generated names differ; core types also ask finalizers to be fully qualified.
      const want = causes.filter((c) => !c.message.includes("neither a standard finalizer name"));
      const got = (status.details?.causes ?? []).map((c) => ({ ...c, message: normal(c.message ?? "") }));
      expect(got).toEqual(want.map((c) => ({ ...c, message: normal(c.message) })));
      if (
        causes.length === want.length &&
        meta.generateName === undefined &&
        message !== "" &&
        !message.includes("{")
      ) {
        expect(status.message).toBe(message);
      }
    });
  }
});

/** Generated names are random, and Go prints fields of owner references in another order. */
function normal(message: string): string {
  return message.replace(/"Bad-\w+"/, '"Bad-x"').replace(/\[?\{.*\}\]?:/, "VALUE:");
}

describe("metadata of updates", () => {
  const old: ObjectMeta = {
    name: "a",
    namespace: "n",
    uid: "u",
    resourceVersion: "1",
    generation: 2,
    finalizers: ["x/y"],
  };
  const texts = (meta: ObjectMeta, before = old): string[] =>
    validateObjectMetaUpdate(meta, before).map((e) => `${e.field}|${e.type}|${e.detail}`);

  test("an unchanged one is fine", () => expect(texts(old)).toEqual([]));
  test("identity does not change", () => {
    expect(texts({ ...old, name: "b", uid: "v" })).toEqual([
      "metadata.name|FieldValueInvalid|field is immutable",
      "metadata.uid|FieldValueInvalid|field is immutable",
    ]);
  });
  test("a resourceVersion is needed and generations only grow", () => {
    expect(texts({ ...old, resourceVersion: "", generation: 1 })).toEqual([
      "metadata.resourceVersion|FieldValueInvalid|must be specified for an update",
      "metadata.generation|FieldValueInvalid|must not be decremented",
    ]);
  });
  test("finalizers come and go while nothing deletes the object", () => {
    expect(texts({ ...old, finalizers: ["x/y", "b/c"] })).toEqual([]);
    expect(texts({ ...old, finalizers: [] })).toEqual([]);
  });
  test("names the field of what is malformed", () => {
    const malformed = {
      labels: { "-": "x" },
      annotations: { "-": "x" },
      ownerReferences: [{}],
    } as unknown as Partial<ObjectMeta>;
    const owner = ["apiVersion", "kind", "name", "uid"];
    const fields = validateObjectMetaUpdate({ ...old, ...malformed }, old).map(({ field }) => field);
    expect(new Set(fields)).toEqual(
      new Set(
        ["labels", "annotations", ...owner.map((name) => `ownerReferences[0].${name}`)].map(
          (name) => `metadata.${name}`,
        ),
      ),
    );
  });
  test("no new finalizers while deleting", () => {
    const deleting = { ...old, deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(texts({ ...deleting, finalizers: [] }, deleting)).toEqual([]);
    expect(texts({ ...deleting, finalizers: ["x/y", "b/c", "a/c"] }, deleting)).toEqual([
      'metadata.finalizers|FieldValueForbidden|no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/c", "b/c"}',
    ]);
  });
});

test("other rules for names", () => {
  const errors = (name: string, nameRule: "dns-label" | "path-segment"): string[] =>
    validateObjectMeta({ name }, { namespaced: false, nameRule }).map((e) => e.detail);
  expect(errors("a.b", "dns-label")).toEqual(["must not contain dots"]);
  expect(errors("system:a", "path-segment")).toEqual([]);
  expect(errors("a/b%", "path-segment")).toEqual(["may not contain '/'", "may not contain '%'"]);
  expect(errors("..", "path-segment")).toEqual(["may not be '..'"]);
  expect(validateObjectMeta({ name: "a", namespace: "x" }, { namespaced: false })[0]?.detail).toBe(
    "not allowed on this type",
  );
  expect(validateObjectMeta({ name: "a" }, { namespaced: true })[0]).toMatchObject({
    type: "FieldValueRequired",
    field: "metadata.namespace",
  });
});

test("field managers are short and printable", () => {
  expect(validateFieldManager("kubectl é", "fieldManager")).toEqual([]);
  expect(validateFieldManager("x".repeat(129), "fieldManager")[0]?.type).toBe("FieldValueTooLong");
  expect(validateFieldManager("a\nb", "fieldManager")[0]?.detail).toBe("invalid character U+000A (at position 1)");
});
