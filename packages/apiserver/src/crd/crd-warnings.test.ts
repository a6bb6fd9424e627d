import { expect, it } from "vitest";
import type { CustomResourceDefinition } from "./crd-object.ts";
import { crdWarnings } from "./crd-warnings.ts";

const crd = (properties: Record<string, object>): CustomResourceDefinition =>
  ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "as.b.example" },
    spec: { versions: [{ name: "v1", schema: { openAPIV3Schema: { type: "object", properties } } }] },
  }) as unknown as CustomResourceDefinition;
const text = (format: string): object => ({ type: "string", format });

it("warns about string formats that are not checked", () => {
  const list = { type: "array", items: text("odd") };
  const map = { type: "object", additionalProperties: text("strange") };
  expect(
    crdWarnings(crd({ a: text("date-time"), b: { type: "integer", format: "int32" }, list, map }), undefined),
  ).toEqual(['unrecognized format "odd"', 'unrecognized format "strange"']);
});

it("warns once: not again for formats that existed before", () => {
  const old = crd({ a: text("odd") });
  expect(crdWarnings(crd({ a: text("odd"), b: text("new") }), old)).toEqual(['unrecognized format "new"']);
  expect(crdWarnings(old, old)).toEqual([]);
});
