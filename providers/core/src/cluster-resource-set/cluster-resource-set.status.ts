import { type Condition, findCondition } from "@capstan/apimachinery";
import { type ClusterResourceSet, type ConditionInput, conditionsOf, withTransitionTimes } from "@capstan/capi";

/** Result of applying a ClusterResourceSet to one Cluster. */
export interface ClusterOutcome {
  cluster: string;
  state: "applied" | "waiting" | "failed";
  message?: string;
  /** Whether the outcome can change without an event, so that it has to be retried. */
  retry: boolean;
}

/** A problem with a Secret or ConfigMap of a ClusterResourceSet. */
export interface SetProblem {
  reason: "InternalError" | "WrongSecretType" | "InvalidSelector";
  message: string;
}

const MAX_LINES = 10;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 300_000;

/** Computes the status of a ClusterResourceSet. Without outcomes (paused) the previous result is kept. */
export function setStatus(
  set: ClusterResourceSet,
  input: { paused: ConditionInput; problems?: readonly SetProblem[]; outcomes?: readonly ClusterOutcome[] },
  nowMs: number,
): NonNullable<ClusterResourceSet["status"]> {
  const before = conditionsOf(set);
  const { generation } = set.metadata;
  const known = findCondition(before, "ResourcesApplied");
  const applied =
    input.outcomes === undefined
      ? known === undefined
        ? []
        : [{ type: known.type, status: known.status, reason: known.reason, message: known.message }]
      : [resourcesApplied(input.problems ?? [], input.outcomes)];
  return {
    conditions: withTransitionTimes([...applied, input.paused], before, nowMs, generation),
    observedGeneration: generation,
  };
}

function resourcesApplied(problems: readonly SetProblem[], outcomes: readonly ClusterOutcome[]): ConditionInput {
  const type = "ResourcesApplied";
  const open = outcomes.filter(({ state }) => state !== "applied");
  const failed = open.filter(({ state }) => state === "failed");
  const lines = [
    ...problems.map(({ message }) => `* ${message}`),
    ...[...failed, ...open.filter(({ state }) => state === "waiting")].map(
      ({ cluster, state, message }) => `* Cluster ${cluster}: ${state === "failed" ? "" : "waiting, "}${message ?? ""}`,
    ),
  ];
  if (lines.length === 0) return { type, status: "True", reason: "Applied", message: "" };
  const wrongType = problems.find(({ reason }) => reason === "WrongSecretType");
  const reason = wrongType?.reason ?? (failed.length > 0 ? "NotApplied" : (problems[0]?.reason ?? "NotApplied"));
  const more = lines.length > MAX_LINES ? [`* and ${lines.length - MAX_LINES} more`] : [];
  return { type, status: "False", reason, message: [...lines.slice(0, MAX_LINES), ...more].join("\n") };
}

/** Returns the delay until failed resources are retried; it grows with the time since the failure. */
export function retryDelay(conditions: readonly Condition[], nowMs: number): number {
  const known = findCondition(conditions, "ResourcesApplied");
  const since = known?.status === "False" ? Date.parse(known.lastTransitionTime) : nowMs;
  return Math.min(LAST_RETRY_MS, Math.max(FIRST_RETRY_MS, (nowMs - since) / 2));
}
