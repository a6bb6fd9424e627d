import type { Condition } from "@capstan/apimachinery";
import { type ConditionInput, PROGRESS_DEADLINE_EXCEEDED, progressing, type WorkerPool } from "@capstan/capi";
import type { MemberObservation } from "./observe.ts";

/** Computes Progressing of a pool: False if a member's rollout is stuck, or if replicas could not be placed within the deadline. */
export function poolProgress(
  pool: WorkerPool,
  members: readonly MemberObservation[],
  placed: Condition | undefined,
  nowMs: number,
): { condition: ConditionInput; dueMs: number | undefined } {
  const type = "Progressing";
  const stuck = members.find(({ progress }) => progress?.status === "False");
  if (stuck?.progress !== undefined) {
    const message = stuck.progress.message.replace(/^(no progress for \S+:)/, `$1 member ${stuck.name}:`);
    return {
      condition: { type, status: "False", reason: PROGRESS_DEADLINE_EXCEEDED, message },
      dueMs: undefined,
    };
  }
  const open = members.filter(({ progress }) => progress?.reason === "Progressing");
  if (placed?.status === "False") {
    const [blocker = "", nextStep = ""] = placed.message.split(": ");
    const progressAtMs = Date.parse(placed.lastTransitionTime);
    return progressing(pool, { doing: blocker, progressAtMs, blocker, nextStep }, nowMs);
  }
  if (open.length === 0) return progressing(pool, undefined, nowMs);
  const message = open.map(({ name, progress }) => `${name}: ${progress?.message}`).join("; ");
  return { condition: { type, status: "True", reason: "Progressing", message }, dueMs: undefined };
}
