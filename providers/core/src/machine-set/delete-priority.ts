import { findCondition } from "@capstan/apimachinery";
import { conditionsOf, DELETE_MACHINE_ANNOTATION, type Machine } from "@capstan/capi";

/** Which Machines are deleted first when a MachineSet scales down. */
export type DeletionOrder = "Random" | "Newest" | "Oldest";

const DAY_MS = 24 * 60 * 60 * 1000;
const DELETING = 100;
const ANNOTATED = 80;
const UNHEALTHY = 50;
const RANDOM = 20;

/** Returns the deletion priority of a Machine; higher is deleted sooner. The values are upstream's. */
export function deletePriority(machine: Machine, order: DeletionOrder, nowMs: number): number {
  if (machine.metadata.deletionTimestamp !== undefined) return DELETING;
  if (machine.metadata.annotations?.[DELETE_MACHINE_ANNOTATION] !== undefined) return ANNOTATED;
  if (isUnhealthy(machine)) return UNHEALTHY;
  if (order === "Random") return RANDOM;
  const oldest = oldestScore(machine, nowMs);
  return order === "Oldest" ? oldest : UNHEALTHY - oldest;
}

function isUnhealthy(machine: Machine): boolean {
  if (machine.status?.nodeRef === undefined) return true;
  const conditions = conditionsOf(machine);
  return ["NodeHealthy", "HealthCheckSucceeded"].some((type) => findCondition(conditions, type)?.status === "False");
}

/** Grows with age towards the priority of an unhealthy Machine. */
function oldestScore(machine: Machine, nowMs: number): number {
  const created = Date.parse(machine.metadata.creationTimestamp ?? "");
  const age = Number.isNaN(created) ? 0 : Math.max(0, nowMs - created);
  return UNHEALTHY * (1 - Math.exp(-age / (10 * DAY_MS)));
}

/** Returns the Machines to delete, in order. Those already being deleted come first and count; ties are broken by name. */
export function machinesToDelete(
  machines: readonly Machine[],
  count: number,
  order: DeletionOrder,
  nowMs: number,
): Machine[] {
  if (count <= 0) return [];
  return machines
    .map((machine) => ({ machine, priority: deletePriority(machine, order, nowMs) }))
    .sort(
      (a, b) => b.priority - a.priority || ((a.machine.metadata.name ?? "") < (b.machine.metadata.name ?? "") ? -1 : 1),
    )
    .slice(0, count)
    .map(({ machine }) => machine);
}
