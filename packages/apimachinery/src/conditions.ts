import type { Condition } from "./object.ts";

/** The condition of a type, if there is one. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((c) => c.type === type);
}

/** Whether the condition of a type is there and True. */
export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/**
 * The conditions with one set. lastTransitionTime moves to `now` only when the status changes; without changes the
 * same array is returned, so that callers can detect it.
 */
export function setCondition(
  conditions: Condition[] | undefined,
  condition: Omit<Condition, "lastTransitionTime"> & { lastTransitionTime?: string },
  now: string,
): Condition[] {
  const list = conditions ?? [];
  const old = findCondition(list, condition.type);
  const moved = old === undefined || old.status !== condition.status;
  const lastTransitionTime = moved ? (condition.lastTransitionTime ?? now) : old.lastTransitionTime;
  const next: Condition = { ...condition, lastTransitionTime };
  if (old === undefined) return [...list, next];
  const same =
    !moved &&
    old.reason === next.reason &&
    old.message === next.message &&
    old.observedGeneration === next.observedGeneration;
  return same && conditions !== undefined ? conditions : list.map((c) => (c === old ? next : c));
}

/** The conditions without one type; the same array when it was not there. */
export function removeCondition(conditions: Condition[] | undefined, type: string): Condition[] {
  if (conditions === undefined) return [];
  return findCondition(conditions, type) === undefined ? conditions : conditions.filter((c) => c.type !== type);
}
