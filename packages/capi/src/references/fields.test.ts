import type { JSONSchemaProps, Unstructured } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { array, map, object, optional, string } from "../schema/schema.ts";
import { foreignReferenceProblems, referenceFields } from "./fields.ts";

const reference = object({ name: string(), namespace: optional(string()) });
const { json: schema } = object({
  spec: object({
    one: optional(reference),
    deep: optional(object({ list: array(object({ ref: reference })) })),
    byName: optional(map(reference)),
    // Not references: a name alone, or a namespace alone.
    local: optional(object({ name: string() })),
    selector: optional(object({ namespace: string() })),
  }),
  status: optional(object({ seen: reference })),
});

const holding = (spec: object, more: Partial<Unstructured> = {}): Unstructured => ({
  apiVersion: "example.com/v1",
  kind: "Holder",
  metadata: { namespace: "own", name: "x" },
  spec,
  ...more,
});
const fieldsOf = (next: Unstructured, old?: Unstructured, granted?: string[]): string[] =>
  foreignReferenceProblems(next, old, schema as JSONSchemaProps, granted).map(({ field }) => field);

test("every field of spec with a name and a namespace is a reference", () => {
  expect(referenceFields(schema as JSONSchemaProps)).toHaveLength(3);
});

describe("references to another namespace", () => {
  const foreign = { name: "a", namespace: "other" };
  const own = { name: "a", namespace: "own" };

  test("are found wherever they are", () => {
    const spec = { one: foreign, deep: { list: [{ ref: own }, { ref: foreign }] }, byName: { k: foreign } };
    expect(fieldsOf(holding(spec))).toEqual([
      "spec.one.namespace",
      "spec.deep.list[1].ref.namespace",
      "spec.byName[k].namespace",
    ]);
  });

  test("are none when the namespace is absent, empty or the object's own", () => {
    expect(fieldsOf(holding({ one: { name: "a" } }))).toEqual([]);
    expect(fieldsOf(holding({ one: { name: "a", namespace: "" } }))).toEqual([]);
    expect(fieldsOf(holding({ one: own }))).toEqual([]);
  });

  test("are left to the kind where its contract allows them", () => {
    expect(fieldsOf(holding({ one: foreign }), undefined, ["spec.one"])).toEqual([]);
  });

  test("that were there before do not keep an object from being changed", () => {
    const old = holding({ one: foreign });
    expect(fieldsOf(holding({ one: foreign, local: { name: "n" } }), old)).toEqual([]);
    expect(fieldsOf(holding({ one: { ...foreign, name: "b" } }), old)).toEqual(["spec.one.namespace"]);
    expect(fieldsOf(holding({ one: { ...foreign, namespace: "third" } }), old)).toEqual(["spec.one.namespace"]);
  });

  test("in status are the controllers' business", () => {
    expect(fieldsOf(holding({}, { status: { seen: foreign } }))).toEqual([]);
  });

  test("say the field, the cause and the cure", () => {
    expect(foreignReferenceProblems(holding({ one: foreign }), undefined, schema as JSONSchemaProps)).toEqual([
      {
        type: "FieldValueInvalid",
        field: "spec.one.namespace",
        value: "other",
        detail:
          '"a" is in namespace "other", but only objects of the same namespace can be referenced; remove the namespace from the reference, or create the object here',
      },
    ]);
  });
});

test("whatever an object holds, it is never a failure", () => {
  fc.assert(fc.property(fc.jsonValue(), (spec) => void fieldsOf(holding(spec as object))));
});
