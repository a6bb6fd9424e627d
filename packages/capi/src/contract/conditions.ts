import { type Condition, formatTime } from "@capstan/apimachinery";

/** A condition as a reconciler computes it; lastTransitionTime is added when it is written. */
export interface ConditionInput {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
}

/** The order in which conditions are shown, as Cluster API shows them. Others follow by name; Paused and Deleting end the list. */
const ORDER = new Map(
  [
    "Available",
    "Ready",
    "UpToDate",
    "RemoteConnectionProbe",
    "BootstrapConfigReady",
    "InfrastructureReady",
    "ControlPlaneInitialized",
    "ControlPlaneAvailable",
    "WorkersAvailable",
    "CertificatesAvailable",
    "Initialized",
    "EtcdClusterHealthy",
    "ControlPlaneComponentsHealthy",
    "NodeHealthy",
    "NodeReady",
    "NodeKubeadmLabelsAndTaintsSet",
    "EtcdPodHealthy",
    "EtcdMemberHealthy",
    "APIServerPodHealthy",
    "ControllerManagerPodHealthy",
    "SchedulerPodHealthy",
    "HealthCheckSucceeded",
    "OwnerRemediated",
    "TopologyReconciled",
    "Updating",
    "RollingOut",
    "Remediating",
    "ScalingDown",
    "ScalingUp",
    "MachinesReady",
    "ControlPlaneMachinesReady",
    "WorkerMachinesReady",
    "MachinesUpToDate",
    "ControlPlaneMachinesUpToDate",
    "WorkerMachinesUpToDate",
  ].map((type, index) => [type, index]),
);

function rank(type: string): number {
  if (type === "Deleting") return 1001;
  if (type === "Paused") return 1000;
  return ORDER.get(type) ?? 999;
}

/**
 * Returns the computed conditions with their lastTransitionTime, in the order in which Cluster API lists them. The time changes only
 * when the status changes, so that writing the same conditions again is a no-op.
 */
export function withTransitionTimes(
  computed: readonly ConditionInput[],
  existing: readonly Condition[],
  nowMs: number,
  generation: number | undefined,
): Condition[] {
  const now = formatTime(nowMs);
  return computed
    .map((input) => {
      const old = existing.find((condition) => condition.type === input.type);
      const lastTransitionTime = old !== undefined && old.status === input.status ? old.lastTransitionTime : now;
      return { ...input, lastTransitionTime, ...(generation === undefined ? {} : { observedGeneration: generation }) };
    })
    .sort((a, b) => rank(a.type) - rank(b.type) || (a.type < b.type ? -1 : 1));
}

/** Copies a condition of another object under a new type, or returns `fallback` when that object has not reported it. */
export function mirror(source: Condition | undefined, type: string, fallback: ConditionInput): ConditionInput {
  if (source === undefined) return { ...fallback, type };
  return { type, status: source.status, reason: source.reason, message: source.message };
}

/** A condition that `summarize` considers, and how its status counts. */
export interface SummaryInput {
  condition: ConditionInput;
  /** Whether True is the bad status, as with Deleting. */
  negative?: boolean;
  /** Never counts as an issue; its message is shown only when the summary is True. */
  info?: boolean;
}

/** Summarizes the conditions of one object: False if one has an issue, else Unknown if one is unknown, else True. */
export function summarize(
  type: string,
  inputs: readonly SummaryInput[],
  reasons: { good: string; bad: string; unknown: string },
): ConditionInput {
  const counted = inputs.filter(({ info }) => info !== true);
  const bad = counted.filter(({ condition, negative }) => condition.status === (negative === true ? "True" : "False"));
  const unknown = counted.filter(({ condition }) => condition.status === "Unknown");
  const listed = bad.length > 0 ? [...bad, ...unknown] : unknown;
  const message = listed.map(({ condition }) => line(condition)).join("\n");
  if (bad.length > 0) return { type, status: "False", reason: reasons.bad, message };
  if (unknown.length > 0) return { type, status: "Unknown", reason: reasons.unknown, message };
  const told = inputs.filter(({ condition, info }) => info === true && condition.message !== "");
  return {
    type,
    status: "True",
    reason: reasons.good,
    message: told.map(({ condition }) => line(condition)).join("\n"),
  };
}

function line(condition: ConditionInput): string {
  return `* ${condition.type}:${indentLines(condition.message === "" ? condition.reason : condition.message)}`;
}

const BULLET = /\*\s/;

/** Formats a message to follow a colon as Cluster API does: on the same line, or as an indented list below it. */
export function indentLines(text: string): string {
  if (!text.includes("\n") && !BULLET.test(text)) return ` ${text}`;
  const lines = text.split("\n");
  const plain = lines.some((part) => !BULLET.test(part));
  const indented = lines.map((part) => (plain ? `${BULLET.test(part) ? "    " : "  * "}${part}` : `  ${part}`));
  return `\n${indented.join("\n")}`;
}

/** Shortens a message to one line: its first line, followed by the next one where the first ends with a colon. */
export function headline(message: string): string {
  const [first = "", ...below] = message.split("\n");
  return first.endsWith(":") && below.length > 0 ? `${first} ${headline(below.join("\n").trimStart())}` : first;
}
