import { isObject } from "@capstan/apimachinery";

/** An object read from JSON. */
export type Json = Record<string, unknown>;

/** The object under a key; empty if there is none. */
export function objectAt(value: Json, key: string): Json {
  const inner = value[key];
  return isObject(inner) ? inner : {};
}

/** The objects of the list under a key. */
export function objectsAt(value: Json, key: string): Json[] {
  const inner = value[key];
  return Array.isArray(inner) ? inner.filter(isObject) : [];
}

/** The text under a key. */
export function textAt(value: Json, key: string): string | undefined {
  const inner = value[key];
  return typeof inner === "string" ? inner : undefined;
}

/** The number under a key. */
export function numberAt(value: Json, key: string): number | undefined {
  const inner = value[key];
  return typeof inner === "number" ? inner : undefined;
}

/** The texts of the list under a key. */
export function textsAt(value: Json, key: string): string[] {
  const inner = value[key];
  return Array.isArray(inner) ? inner.filter((item): item is string => typeof item === "string") : [];
}
