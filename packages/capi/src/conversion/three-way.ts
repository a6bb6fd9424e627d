import { deepEqual, getOwn, isObject, type JsonObject, setOwn } from "@capstan/apimachinery";

/** Fields that identify items of lists, in the order they are tried. */
const IDENTITIES = ["name", "class", "type", "conditionType", "path", "key", "device"];

/**
 * `saved` with the changes from `base` to `next`: unchanged fields keep their saved form, even where `base` and
 * `next` cannot express it.
 */
export function threeWay(saved: unknown, base: unknown, next: unknown): unknown {
  if (deepEqual(base, next)) return saved;
  if (isObject(saved) && isObject(base) && isObject(next)) return mergeObjects(saved, base, next);
  if (Array.isArray(saved) && Array.isArray(base) && Array.isArray(next)) return mergeLists(saved, base, next);
  return next;
}

function mergeObjects(saved: JsonObject, base: JsonObject, next: JsonObject): JsonObject {
  const merged: JsonObject = {};
  for (const key of new Set([...Object.keys(next), ...Object.keys(saved)])) {
    const value = threeWay(getOwn(saved, key), getOwn(base, key), getOwn(next, key));
    if (value !== undefined) setOwn(merged, key, value);
  }
  return merged;
}

/** Items are matched by the field that identifies them, or else by index. */
function mergeLists(saved: readonly unknown[], base: readonly unknown[], next: readonly unknown[]): unknown[] {
  if (saved.length !== base.length) return [...next];
  const identity = IDENTITIES.find((field) => names(base, field) && names(next, field));
  return next.map((item, index) => {
    const at =
      identity === undefined ? index : base.findIndex((other) => nameOf(other, identity) === nameOf(item, identity));
    return at < 0 || at >= base.length ? item : threeWay(saved[at], base[at], item);
  });
}

function names(list: readonly unknown[], field: string): boolean {
  const all = list.map((item) => nameOf(item, field));
  return all.every((name) => name !== undefined) && new Set(all).size === all.length;
}

function nameOf(item: unknown, field: string): string | undefined {
  const name = isObject(item) ? getOwn(item, field) : undefined;
  return typeof name === "string" ? name : undefined;
}
