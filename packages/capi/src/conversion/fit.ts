import { isObject, type JSONSchemaProps, type JsonObject } from "@capstan/apimachinery";

/**
 * Makes a converted object fit the schema of its new version: leaves out objects that the version does not know, and what
 * it forbids as empty (`""`, 0, `{}`, `[]` where something is wanted), as Go's encoder does for fields of v1beta1 that
 * cannot be absent. Changes its input.
 */
export function fit(object: JsonObject, schema: JSONSchemaProps): void {
  const { properties, additionalProperties } = schema;
  if (properties === undefined) {
    if (typeof additionalProperties === "object")
      for (const value of Object.values(object)) descend(value, additionalProperties);
    return;
  }
  for (const [name, value] of Object.entries(object)) {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined) {
      if (schema["x-kubernetes-preserve-unknown-fields"] !== true) delete object[name];
      continue;
    }
    descend(value, field);
    if (isForbiddenEmpty(value, field)) delete object[name];
  }
}

function descend(value: unknown, schema: JSONSchemaProps): void {
  if (isObject(value)) fit(value, schema);
  else if (Array.isArray(value) && schema.items !== undefined) for (const item of value) descend(item, schema.items);
}

function isForbiddenEmpty(value: unknown, schema: JSONSchemaProps): boolean {
  if (value === "") return (schema.minLength ?? 0) > 0 || (schema.enum !== undefined && !schema.enum.includes(""));
  if (value === 0) return (schema.minimum ?? 0) > 0;
  if (Array.isArray(value)) return value.length === 0 && (schema.minItems ?? 0) > 0;
  return isObject(value) && Object.keys(value).length === 0 && (schema.minProperties ?? 0) > 0;
}
