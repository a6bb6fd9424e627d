import { formatDuration, type KubeObject } from "@capstan/apimachinery";
import type { ConditionInput } from "./conditions.ts";

/** On a MachineDeployment, WorkerPool or HostedControlPlane: how many seconds a rollout may make no progress before it counts as stuck. */
export const PROGRESS_DEADLINE_ANNOTATION = "capstan.dev/progress-deadline-seconds";
/** As with the Deployments of Kubernetes. */
const DEFAULT_DEADLINE_MS = 600_000;

/** A rollout under way. */
export interface OpenWork {
  /** What the rollout does. */
  doing: string;
  /** When it last made progress, or started. */
  progressAtMs: number;
  /** What it waits for, and what a user can do. */
  blocker: string;
  nextStep: string;
}

/** How long a rollout of this object may make no progress. */
export function progressDeadlineMs({ metadata }: Pick<KubeObject, "metadata">): number {
  const seconds = Number(metadata.annotations?.[PROGRESS_DEADLINE_ANNOTATION]);
  return Number.isInteger(seconds) && seconds > 0 ? seconds * 1000 : DEFAULT_DEADLINE_MS;
}

/**
 * The condition Progressing, as the Deployments of Kubernetes have it: True while a rollout makes progress and after it is complete, False when
 * it has made none for the deadline. `dueMs` is the time until that happens.
 */
export function progressing(
  object: Pick<KubeObject, "metadata">,
  work: OpenWork | undefined,
  nowMs: number,
): { condition: ConditionInput; dueMs: number | undefined } {
  const type = "Progressing";
  if (work === undefined)
    return { condition: { type, status: "True", reason: "Complete", message: "" }, dueMs: undefined };
  const deadlineMs = progressDeadlineMs(object);
  const dueMs = work.progressAtMs + deadlineMs - nowMs;
  if (dueMs > 0) return { condition: { type, status: "True", reason: "Progressing", message: work.doing }, dueMs };
  const message = stuckMessage(deadlineMs, work.blocker, work.nextStep);
  return { condition: { type, status: "False", reason: PROGRESS_DEADLINE_EXCEEDED, message }, dueMs: undefined };
}

/** Reason of Progressing when a rollout is stuck. */
export const PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded";

/** What Progressing says of a stuck rollout. */
export function stuckMessage(deadlineMs: number, blocker: string, nextStep: string): string {
  return `no progress for ${short(deadlineMs)}: ${blocker}; ${nextStep}`;
}

/** `10m0s` is written `10m`. */
function short(ms: number): string {
  return formatDuration(ms).replace(/(?<=[hm])0[ms](0s)?$/, "");
}

/** `1 of 3 Machines replaced`. */
export function countText({ done, total }: { done: number; total: number }, counts: string): string {
  return `${done} of ${total} Machines ${counts}`;
}

/** What a rollout does, followed by how far it has come: `Deleting Machine a (1 of 3 Machines replaced)`. */
export function withCount(doing: string, count: string | undefined): string {
  return count === undefined ? doing : `${doing} (${count})`;
}

/** Takes off again what `withCount` has added. */
export function withoutCount(message: string): string {
  return message.replace(/ \(\d+ of \d+ Machines [a-z]+\)$/, "");
}
