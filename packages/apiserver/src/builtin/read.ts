import { isObject, type JsonObject, type Unstructured } from "@capstan/apimachinery";

const EMPTY: JsonObject = Object.freeze({});

/** The value at a path of property names, or undefined: built-in kinds are read without trusting their shape. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current: unknown = value;
  for (const key of path) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** The value as text; anything else counts as empty, like Go's zero value. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value as number; anything else counts as 0. */
export function num(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** The value as list; anything else counts as empty. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The strings of a list. */
export function texts(value: unknown): readonly string[] {
  return list(value).filter((v): v is string => typeof v === "string");
}

/** The value as object; anything else counts as empty. Not for writing. */
export function obj(value: unknown): JsonObject {
  return isObject(value) ? value : EMPTY;
}

/** The string values of an object. */
export function stringMap(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(obj(value)).filter((e): e is [string, string] => typeof e[1] === "string"));
}

/** The object under `key` for writing, created when absent. */
export function child(parent: JsonObject | Unstructured, key: string): JsonObject {
  const existing = parent[key];
  if (isObject(existing)) return existing;
  const made: JsonObject = {};
  (parent as JsonObject)[key] = made;
  return made;
}

/** Sets a property that is absent or null. */
export function setDefault(parent: JsonObject | Unstructured, key: string, value: unknown): void {
  if (parent[key] === undefined || parent[key] === null) (parent as JsonObject)[key] = value;
}

/** The objects of a list, for writing. */
export function objects(value: unknown): JsonObject[] {
  return list(value).filter(isObject);
}
