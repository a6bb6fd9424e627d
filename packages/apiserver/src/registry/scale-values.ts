import { type FieldError, invalidValue, isObject, type Unstructured } from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";

const MAX_INT32 = 0x7fffffff;

/** What is wrong with the fields that a custom resource's scale subresource reads: upstream checks them besides the schema. */
export function scaleValueErrors(scale: NonNullable<ResourceType["scale"]>, object: Unstructured): FieldError[] {
  const errors = [
    ...replicasErrors(scale.specReplicasPath, object),
    ...replicasErrors(scale.statusReplicasPath, object),
  ];
  const { labelSelectorPath: path } = scale;
  if (path === undefined || path === "") return errors;
  const found = nested(object, path);
  if ("problem" in found) errors.push(invalidValue(path, "", found.problem));
  else if (found.value !== undefined && typeof found.value !== "string")
    errors.push(invalidValue(path, "", `${path} accessor error: ${described(found.value)}, expected string`));
  return errors;
}

function replicasErrors(path: string, object: Unstructured): FieldError[] {
  const found = nested(object, path);
  if ("problem" in found) return [invalidValue(path, 0, found.problem)];
  const { value } = found;
  if (value === undefined) return [];
  if (typeof value !== "number" || !Number.isInteger(value))
    return [invalidValue(path, 0, `${path} accessor error: ${described(value)}, expected int64`)];
  if (value < 0) return [invalidValue(path, value, "should be a non-negative integer")];
  return value > MAX_INT32 ? [invalidValue(path, value, `should be less than or equal to ${MAX_INT32}`)] : [];
}

function nested(object: Unstructured, path: string): { value: unknown } | { problem: string } {
  let value: unknown = object;
  let walked = "";
  for (const name of path.replace(/^\./, "").split(".")) {
    walked += `.${name}`;
    if (value === undefined || value === null) return { value: undefined };
    if (!isObject(value))
      return { problem: `${walked} accessor error: ${described(value)}, expected map[string]interface{}` };
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return { value: value ?? undefined };
}

/** `1.5 is of the type float64`, as Go prints values and types. */
function described(value: unknown): string {
  const shown = typeof value === "object" ? JSON.stringify(value) : String(value);
  return `${shown} is of the type ${goType(value)}`;
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    default:
      return "map[string]interface {}";
  }
}
