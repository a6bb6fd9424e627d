import type { Unstructured } from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";

/** Whether a change leaves an object that is being deleted with nothing to wait for: it goes in the same request. */
export function mustVanish(type: ResourceType, object: Unstructured): boolean {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined) return false;
  if ((metadata.finalizers?.length ?? 0) > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return (type.strategy.extraFinalizers?.(object).length ?? 0) === 0;
}

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

/** metadata.finalizers after a delete with the given policy: the two that steer garbage collection come and go, others stay. */
export function finalizersFor(
  object: Unstructured,
  policy: "Background" | "Foreground" | "Orphan" | undefined,
): string[] {
  const current = object.metadata.finalizers ?? [];
  if (policy === undefined) return current;
  const kept = current.filter((f) => f !== ORPHAN && f !== FOREGROUND);
  if (policy === "Orphan") kept.push(ORPHAN);
  if (policy === "Foreground") kept.push(FOREGROUND);
  return kept;
}
