import { getOwn, isObject, type JsonObject, setOwn } from "@capstan/apimachinery";

/** The value at a path. */
export function at(root: JsonObject, path: string): unknown {
  let value: unknown = root;
  for (const key of path.split(".")) value = isObject(value) ? getOwn(value, key) : undefined;
  return value;
}

/** Removes and returns the value at a path; objects that this leaves empty go too. */
export function take(root: JsonObject, path: string): unknown {
  return takeAt(root, path.split("."), 0);
}

function takeAt(object: JsonObject, path: readonly string[], index: number): unknown {
  const key = path[index] ?? "";
  const value = getOwn(object, key);
  if (index === path.length - 1) {
    if (value !== undefined) delete object[key];
    return value;
  }
  if (!isObject(value)) return undefined;
  const before = Object.keys(value).length;
  const taken = takeAt(value, path, index + 1);
  if (before > 0 && Object.keys(value).length === 0) delete object[key];
  return taken;
}

/** Sets the value at a path and makes the objects on the way; keeps what is there if something else stands in the way. */
export function put(root: JsonObject, path: string, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let object = root;
  for (const key of keys) {
    let next = getOwn(object, key);
    if (next === undefined) {
      next = {};
      setOwn(object, key, next);
    }
    if (!isObject(next)) return;
    object = next;
  }
  const there = getOwn(object, last);
  setOwn(object, last, isObject(there) && isObject(value) ? { ...value, ...there } : value);
}

/** Replaces the value at a path if it is there. */
export function change(root: JsonObject, path: string, by: (value: unknown) => unknown): void {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let object = root;
  for (const key of keys) {
    const next = getOwn(object, key);
    if (!isObject(next)) return;
    object = next;
  }
  const value = getOwn(object, last);
  if (value === undefined) return;
  const changed = by(value);
  if (changed !== undefined) setOwn(object, last, changed);
}
