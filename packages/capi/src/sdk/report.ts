import { type Condition, findCondition, type KubeObject } from "@capstan/apimachinery";
import { done, type ReconcileContext, type Result, redactText, requeueAfter } from "@capstan/runtime";
import { type ConditionInput, withTransitionTimes } from "../contract/conditions.ts";
import { INSUFFICIENT_CAPACITY } from "../contract/constants.ts";
import { conditionsOf } from "../contract/fields.ts";
import type { Outcome } from "./outcome.ts";

/** A user must act: checked again after this time if nothing changes. */
const FAILED_RETRY_MS = 10 * 60_000;
/** Capacity may become free without an event; it is requested this often. */
const CAPACITY_RETRY_MS = 30_000;

/** A wait that the SDK itself imposes. */
export type Waiting = Extract<Outcome, { type: "wait" }>;

/** Returns the Ready condition after an outcome of `ensure`. */
export function readyCondition(outcome: Outcome): ConditionInput {
  const no = (reason: string, message: string): ConditionInput => ({ type: "Ready", status: "False", reason, message });
  switch (outcome.type) {
    case "ready":
      return { type: "Ready", status: "True", reason: "Ready", message: "" };
    case "wait":
      return no(outcome.reason, outcome.message);
    case "noCapacity":
      return no(INSUFFICIENT_CAPACITY, outcome.message);
    case "failed":
      return no(outcome.reason, `${outcome.message}. ${outcome.cure}`);
    case "gone":
      return no("ObjectDeleted", "It no longer exists at its provider; delete it here as well to have it replaced");
  }
}

/** Returns the Ready condition after a provider function threw. */
export function errorCondition(error: unknown): ConditionInput {
  const text = error instanceof Error ? error.message : String(error);
  return {
    type: "Ready",
    status: "Unknown",
    reason: "InternalError",
    message: `The last attempt failed and will be retried: ${redactText(text)}`,
  };
}

/** Returns the Deleting condition; without an outcome nothing is being deleted. */
export function deletingCondition(outcome?: Outcome): ConditionInput {
  if (outcome === undefined) return { type: "Deleting", status: "False", reason: "NotDeleting", message: "" };
  const yes = (reason: string, message: string): ConditionInput => ({
    type: "Deleting",
    status: "True",
    reason,
    message,
  });
  switch (outcome.type) {
    case "wait":
      return yes(outcome.reason, outcome.message);
    case "failed":
      return yes(outcome.reason, `${outcome.message}. ${outcome.cure}`);
    case "noCapacity":
      return yes(INSUFFICIENT_CAPACITY, outcome.message);
    case "ready":
    case "gone":
      return yes("DeletionCompleted", "");
  }
}

/** Emits an event for a problem, once for each new message: the condition had another message before. */
export function reportProblem(
  object: KubeObject,
  outcome: Outcome | "thrown",
  context: ReconcileContext,
  of: ConditionInput,
): void {
  if (!isTrouble(outcome)) return;
  const before = findCondition(conditionsOf(object as { status?: unknown }), of.type);
  if (before?.status === of.status && before.reason === of.reason && before.message === of.message) return;
  context.recorder.event(object, "Warning", of.reason, of.type === "Deleting" ? "Delete" : "Provision", of.message);
}

function isTrouble(outcome: Outcome | "thrown"): boolean {
  if (outcome === "thrown") return true;
  if (outcome.type === "wait") return outcome.trouble === true;
  return outcome.type !== "ready";
}

/** When to requeue after an outcome. */
export function nextLook(outcome: Outcome): Result {
  switch (outcome.type) {
    case "wait":
    case "ready":
      return outcome.recheckAfterMs === undefined ? done() : requeueAfter(outcome.recheckAfterMs);
    case "failed":
      return requeueAfter(FAILED_RETRY_MS);
    case "noCapacity":
      return requeueAfter(CAPACITY_RETRY_MS);
    case "gone":
      return done();
  }
}

/** Status fields that stay if an outcome does not set them: flags of the contract never become false again. */
export function keptStatus(object: { status?: object }): object {
  const { conditions: _, ...rest } = (object.status ?? {}) as { conditions?: unknown };
  return rest;
}

/** Writes the status of an object: the given fields and conditions; conditions not given stay as they were. */
export async function writeStatus<T extends KubeObject>(
  object: T,
  fields: object,
  computed: readonly ConditionInput[],
  context: ReconcileContext,
): Promise<void> {
  const existing: Condition[] = conditionsOf(object as { status?: unknown });
  const kept = existing
    .filter(({ type }) => !computed.some((condition) => condition.type === type))
    .map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  const conditions = withTransitionTimes(
    [...computed, ...kept],
    existing,
    context.clock.now(),
    object.metadata.generation,
  );
  const { namespace, name } = object.metadata;
  const desired = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { namespace, name },
    status: { ...fields, conditions },
  };
  await context.ensureStatus(desired as unknown as T, object);
}
