import { isObject } from "@capstan/apimachinery";

/**
 * Returns whether `live` contains everything in `desired`. Objects may have additional fields; lists must have the same length, because
 * without a schema it is unknown how their items match.
 */
export function applyCovers(live: unknown, desired: unknown): boolean {
  if (live === desired || desired === undefined) return true;
  if (Array.isArray(desired)) {
    if (!Array.isArray(live) || live.length !== desired.length) return false;
    return desired.every((item, index) => applyCovers(live[index], item));
  }
  if (!isObject(desired) || !isObject(live)) return false;
  for (const key of Object.keys(desired)) {
    if (!Object.hasOwn(live, key) && desired[key] !== undefined) return false;
    if (!applyCovers(live[key], desired[key])) return false;
  }
  return true;
}
