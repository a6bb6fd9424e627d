import { type Condition, deepEqual, isObject, type JsonObject } from "@capstan/apimachinery";

/** Which parts of a status may be written later when the process is busy. */
export interface StatusDeferral {
  /** Fields that people read and no controller acts on at once. */
  readonly explaining: ReadonlySet<string>;
  /** Types of conditions that controllers act on and that people wait for; the other conditions explain. */
  readonly decisive: ReadonlySet<string>;
}

/**
 * Reports whether the write of a new status can be deferred: it only explains the old one differently. No decisive condition becomes true
 * or ceases to be, and no flag, number or reference that other controllers wait for changes.
 */
export function isDeferrable(old: unknown, next: unknown, { explaining, decisive }: StatusDeferral): boolean {
  const before = isObject(old) ? old : {};
  const after = isObject(next) ? next : {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!explaining.has(key) && !sameValue(before[key], after[key])) return false;
  }
  const had = decided(before, decisive);
  const has = decided(after, decisive);
  return had.size === has.size && [...has].every((type) => had.has(type));
}

/** No replicas is the same as not having counted yet. */
function sameValue(before: unknown, after: unknown): boolean {
  return (before ?? 0) === (after ?? 0) || deepEqual(before, after);
}

function decided(status: JsonObject, decisive: ReadonlySet<string>): Set<string> {
  const conditions = (Array.isArray(status["conditions"]) ? status["conditions"] : []) as Condition[];
  return new Set(
    conditions.filter(({ type, status: value }) => value === "True" && decisive.has(type)).map(({ type }) => type),
  );
}
