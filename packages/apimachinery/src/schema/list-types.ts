import { duplicate, type FieldError, invalidValue } from "../field-error.ts";
import { isObject, stableStringify } from "../json.ts";
import type { SchemaNode } from "./node.ts";

/**
 * Finds duplicates in lists of type set and map, with the paths and values Kubernetes reports. Fields that are the very value they
 * were in `old` are passed over.
 */
export function checkListTypes(
  node: SchemaNode,
  value: unknown,
  path: string,
  errors: FieldError[],
  old?: unknown,
): void {
  if (value === old || !node.features.listTypes || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (node.listType === "set") checkSet(value, value, path, errors);
    else if (node.listType === "map") checkMap(node, value, path, errors);
    const items = node.items;
    if (items?.features.listTypes === true) {
      value.forEach((item, i) => checkListTypes(items, item, `${path}[${i}]`, errors));
    }
    return;
  }
  const object = value as Record<string, unknown>;
  const before = isObject(old) ? old : undefined;
  for (const key in object) {
    const property = node.properties.get(key);
    const child = property ?? node.additional;
    if (child?.features.listTypes !== true) continue;
    const below = property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    const known = before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined;
    checkListTypes(child, object[key], below, errors, known);
  }
}

/** The second appearance of each value that occurs more than once. */
function checkSet(keys: readonly unknown[], shown: readonly unknown[], path: string, errors: FieldError[]): void {
  if (keys.length <= 1) return;
  const seen = new Map<unknown, number>();
  keys.forEach((key, i) => {
    const identity = typeof key === "object" && key !== null ? `\u0000${stableStringify(key)}` : key;
    const times = seen.get(identity) ?? 0;
    seen.set(identity, times + 1);
    if (times === 1) errors.push(duplicate(`${path}[${i}]`, shown[i]));
  });
}

const UNSPECIFIED = Symbol("unspecified");

function checkMap(node: SchemaNode, value: readonly unknown[], path: string, errors: FieldError[]): void {
  for (let i = 0; i < value.length; i++) {
    if (value[i] !== null && !isObject(value[i])) {
      errors.push(invalidValue(`${path}[${i}]`, value[i], "must be an object for an array of list-type map"));
      return;
    }
  }
  if (value.length <= 1) return;
  const shown = value.map((item) => keyFields(node, item));
  const single = node.mapKeys.length === 1 ? node.mapKeys[0] : undefined;
  const keys =
    single === undefined
      ? shown
      : shown.map((fields) => (Object.hasOwn(fields, single) ? fields[single] : UNSPECIFIED));
  checkSet(keys, shown, path, errors);
}

function keyFields(node: SchemaNode, item: unknown): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (!isObject(item)) return fields;
  for (const name of node.mapKeys) if (Object.hasOwn(item, name)) fields[name] = item[name];
  return fields;
}
