import type { JSONSchemaProps } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { KINDS } from "./kinds.ts";

/** Paths of the fields below a schema, and of the objects in its lists and maps, that have no description. */
function undescribed(schema: JSONSchemaProps, path: string): string[] {
  const fields = Object.entries(schema.properties ?? {});
  const values = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  return [
    ...fields.flatMap(([name, field]) => checked(field, `${path}.${name}`)),
    ...(schema.items === undefined ? [] : checkedItem(schema.items, `${path}[]`)),
    ...(values === undefined ? [] : checkedItem(values, `${path}{}`)),
  ];
}

function checked(schema: JSONSchemaProps, path: string): string[] {
  return [...((schema.description ?? "") === "" ? [path] : []), ...undescribed(schema, path)];
}

/** The description of a list or map covers plain values; objects in it need one of their own. */
function checkedItem(schema: JSONSchemaProps, path: string): string[] {
  return schema.properties === undefined ? undescribed(schema, path) : checked(schema, path);
}

// The API server describes apiVersion, kind and metadata. Older versions are derived from the first, the stored one, without descriptions.
test("every field of every kind has a description", () => {
  const missing = KINDS.flatMap(({ kind, group, versions }) => {
    const stored = versions[0] ?? expect.fail(`${kind}.${group} has no version`);
    return undescribed(stored.schema.json, `${kind}.${group}`);
  });
  expect(missing).toEqual([]);
});
