import { type Condition, deepEqual, isObject, type JsonObject } from "@capstan/apimachinery";

/** Parts of a status that people read and no controller acts on at once. */
const TOLD: ReadonlySet<string> = new Set([
  "conditions",
  "deprecated",
  "selector",
  "observedGeneration",
  "lastUpdated",
  "phase",
  "versions",
  "upToDateReplicas",
  "workers",
  "controlPlane",
]);

/** Conditions that others act on, and that people wait for; the rest says why. */
const DECISIVE: ReadonlySet<string> = new Set(["Ready", "Available", "Deleting", "Paused"]);

/**
 * Returns whether a new status only explains the old one differently: no decisive condition becomes true or ceases to be, and no flag,
 * number or reference that other controllers wait for changes.
 */
export function isTelling(old: unknown, next: unknown): boolean {
  const before = isObject(old) ? old : {};
  const after = isObject(next) ? next : {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!TOLD.has(key) && !sameValue(before[key], after[key])) return false;
  }
  const had = decided(before);
  const has = decided(after);
  return had.size === has.size && [...has].every((type) => had.has(type));
}

/** No replicas is the same as not having counted yet. */
function sameValue(before: unknown, after: unknown): boolean {
  return (before ?? 0) === (after ?? 0) || deepEqual(before, after);
}

function decided(status: JsonObject): Set<string> {
  const conditions = (Array.isArray(status["conditions"]) ? status["conditions"] : []) as Condition[];
  return new Set(
    conditions.filter(({ type, status: value }) => value === "True" && DECISIVE.has(type)).map(({ type }) => type),
  );
}
