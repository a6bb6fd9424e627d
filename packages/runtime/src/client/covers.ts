import { isObject } from "@capstan/apimachinery";

/**
 * Whether `live` has everything `desired` says. Objects may have more in them; lists must have the same length, as what else
 * belongs into a list cannot be told without its schema.
 */
export function covers(live: unknown, desired: unknown): boolean {
  if (live === desired || desired === undefined) return true;
  if (Array.isArray(desired)) {
    if (!Array.isArray(live) || live.length !== desired.length) return false;
    return desired.every((item, index) => covers(live[index], item));
  }
  if (!isObject(desired) || !isObject(live)) return false;
  for (const key of Object.keys(desired)) {
    if (!Object.hasOwn(live, key) && desired[key] !== undefined) return false;
    if (!covers(live[key], desired[key])) return false;
  }
  return true;
}
