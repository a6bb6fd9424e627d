import { type Condition, formatTime } from "@capstan/apimachinery";

/** A condition as a reconciler computes it; the time of its last change is added when it is written. */
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
 * The conditions to write: the computed ones with the time of their last change, in the usual order. `lastTransitionTime` moves only
 * when the status changes, so that writing the same again changes nothing.
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

/** Copies another object's condition under a name of our own. */
export function mirror(source: Condition | undefined, type: string, fallback: ConditionInput): ConditionInput {
  if (source === undefined) return { ...fallback, type };
  return { type, status: source.status, reason: source.reason, message: source.message };
}

export interface SummaryInput {
  condition: ConditionInput;
  /** True is the bad state. */
  negative?: boolean;
  /** Never a fault, whatever its status: it is told of where the object is fine. */
  info?: boolean;
}

/** One condition from several of the same object: issues first, then what is unknown, then what is fine. */
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

/** What follows a colon, as upstream writes it: on the same line, or below it as a list. */
export function indentLines(text: string): string {
  if (!text.includes("\n") && !BULLET.test(text)) return ` ${text}`;
  const lines = text.split("\n");
  const plain = lines.some((part) => !BULLET.test(part));
  const indented = lines.map((part) => (plain ? `${BULLET.test(part) ? "    " : "  * "}${part}` : `  ${part}`));
  return `\n${indented.join("\n")}`;
}

/** A message in one line: its first, with the first below it where it only announces a list. */
export function headline(message: string): string {
  const [first = "", ...below] = message.split("\n");
  return first.endsWith(":") && below.length > 0 ? `${first} ${headline(below.join("\n").trimStart())}` : first;
}
