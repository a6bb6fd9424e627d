import { badRequest } from "./errors.ts";

/** How deep a JSON value may be nested before functions of this package refuse it instead of exhausting the stack. */
export const MAX_DEPTH = 1000;

/** A JSON object whose fields are not known at compile time. */
export type JsonObject = Record<string, unknown>;

/** The error for values nested deeper than MAX_DEPTH. */
export function tooDeep(): Error {
  return badRequest(`the object is nested deeper than ${MAX_DEPTH} levels: flatten it`);
}

/** Whether a value is a JSON object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Own property or undefined: `__proto__`, `constructor` and friends are ordinary names in user data. */
export function getOwn(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an own property, also when it is called `__proto__`. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else object[key] = value;
}

/** A deep copy of a JSON value, not frozen. A property that is undefined is left out, as JSON text leaves it out. */
export function deepCopy<T>(value: T): T {
  return copy(value, 0) as T;
}

function copy(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw tooDeep();
  if (Array.isArray(value)) {
    const out: unknown[] = [];
    for (const item of value) out.push(typeof item === "object" && item !== null ? copy(item, depth + 1) : item);
    return out;
  }
  const source = value as JsonObject;
  const out: JsonObject = {};
  for (const key of Object.keys(source)) {
    const item = source[key];
    if (item === undefined) continue;
    const copied = typeof item === "object" && item !== null ? copy(item, depth + 1) : item;
    if (key === "__proto__") setOwn(out, key, copied);
    else out[key] = copied;
  }
  return out;
}

/** Equality of JSON values. A property that is undefined counts as absent; the order of properties does not matter. */
export function deepEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, 0);
}

function equal(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a !== a && b !== b;
  if (depth > MAX_DEPTH) throw tooDeep();
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth + 1)) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  return equalObjects(a as JsonObject, b as JsonObject, depth);
}

function equalObjects(a: JsonObject, b: JsonObject, depth: number): boolean {
  const keys = Object.keys(a);
  let common = 0;
  for (const key of keys) {
    const left = a[key];
    if (left === undefined) continue;
    const right = b[key];
    if (left !== right && !equal(left, right, depth + 1)) return false;
    // An inherited member (`constructor`) must not pass for a property.
    if (!Object.hasOwn(b, key)) return false;
    common++;
  }
  const others = Object.keys(b);
  if (others.length === common) return true;
  for (const key of others) if (b[key] !== undefined && !(Object.hasOwn(a, key) && a[key] !== undefined)) return false;
  return true;
}

/**
 * Puts what `old` has in the place of each equal part of `next`, which is changed, and returns `old` itself when all is equal: comparing
 * the two again costs little then. Frozen parts of `next` stay as they are.
 */
export function shareEqualParts(next: unknown, old: unknown): unknown {
  return share(next, old, 0);
}

function share(next: unknown, old: unknown, depth: number): unknown {
  if (next === old || typeof next !== "object" || typeof old !== "object" || next === null || old === null) return next;
  if (Array.isArray(next) !== Array.isArray(old)) return next;
  if (depth > MAX_DEPTH) throw tooDeep();
  if (Object.isFrozen(next)) return deepEqual(next, old) ? old : next;
  const [to, from] = [next as JsonObject, old as JsonObject];
  let same = true;
  for (const key of Object.keys(to)) {
    const before = Object.hasOwn(from, key) ? from[key] : undefined;
    const shared = share(to[key], before, depth + 1);
    if (shared !== to[key]) setOwn(to, key, shared);
    if (shared !== before) same = false;
  }
  return same && Object.keys(to).length === Object.keys(from).length ? old : next;
}

/** Freezes a JSON value and everything in it; stops at parts that are frozen already, which are taken to be deeply so. */
export function deepFreeze<T>(value: T): T {
  freeze(value, 0);
  return value;
}

function freeze(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  if (depth > MAX_DEPTH) throw tooDeep();
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object" && item !== null) freeze(item, depth + 1);
  } else {
    const object = value as JsonObject;
    for (const key of Object.keys(object)) {
      const item = object[key];
      if (typeof item === "object" && item !== null) freeze(item, depth + 1);
    }
  }
  Object.freeze(value);
}

/** JSON text with sorted keys, so that equal values give equal texts. */
export function stableStringify(value: unknown): string {
  return stringify(value, 0) ?? "null";
}

function stringify(value: unknown, depth: number): string | undefined {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (depth > MAX_DEPTH) throw tooDeep();
  if (Array.isArray(value)) return `[${value.map((v) => stringify(v, depth + 1) ?? "null").join(",")}]`;
  const object = value as JsonObject;
  const parts: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const text = stringify(object[key], depth + 1);
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${parts.join(",")}}`;
}
