import { deepEqual, isObject, knownFormat } from "@capstan/apimachinery";
import type { CustomResourceDefinition } from "./crd-object.ts";

/** Warns about string formats that are not checked; does not repeat warnings about what is already stored. */
export function crdWarnings(crd: CustomResourceDefinition, old: CustomResourceDefinition | undefined): string[] {
  const formats = new Set<string>();
  for (const version of crd.spec.versions) {
    const schema = version.schema?.openAPIV3Schema;
    const before = old?.spec.versions.find((v) => v.name === version.name)?.schema?.openAPIV3Schema;
    if (deepEqual(schema, before)) continue;
    const known = new Set<string>();
    collect(before, known);
    const found = new Set<string>();
    collect(schema, found);
    for (const format of found) if (!known.has(format)) formats.add(format);
  }
  return [...formats].map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function collect(schema: unknown, formats: Set<string>): void {
  if (!isObject(schema)) return;
  const { type, format, properties, items, additionalProperties } = schema;
  const typeName = typeof type === "string" ? type : "";
  if (typeof format === "string" && format !== "" && !knownFormat(format, typeName)) formats.add(format);
  if (isObject(properties)) for (const property of Object.values(properties)) collect(property, formats);
  collect(items, formats);
  collect(additionalProperties, formats);
}
