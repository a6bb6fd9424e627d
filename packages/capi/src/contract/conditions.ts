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
}

/** One condition from several of the same object: issues first, then what is unknown, then what is fine. */
export function summarize(
  type: string,
  inputs: readonly SummaryInput[],
  reasons: { good: string; bad: string; unknown: string },
): ConditionInput {
  const bad = inputs.filter(({ condition, negative }) => condition.status === (negative === true ? "True" : "False"));
  const unknown = inputs.filter(({ condition }) => condition.status === "Unknown");
  const listed = bad.length > 0 ? [...bad, ...unknown] : unknown;
  const message = listed.map(({ condition }) => line(condition)).join("\n");
  if (bad.length > 0) return { type, status: "False", reason: reasons.bad, message };
  if (unknown.length > 0) return { type, status: "Unknown", reason: reasons.unknown, message };
  return { type, status: "True", reason: reasons.good, message: "" };
}

function line(condition: ConditionInput): string {
  const text = condition.message === "" ? condition.reason : condition.message;
  return text.includes("\n") ? `* ${condition.type}:\n${indent(text)}` : `* ${condition.type}: ${text}`;
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((part) => `  ${part}`)
    .join("\n");
}

const MAX_MESSAGES = 3;
const MAX_NAMES = 3;

/** One condition across many objects: at most three messages, each with at most three names. */
export function aggregate(
  type: string,
  items: readonly { name: string; condition: Condition | undefined }[],
  plural: string,
  reasons: { good: string; bad: string; unknown: string },
): ConditionInput {
  const unknown = items.filter(({ condition }) => condition === undefined || condition.status === "Unknown");
  const bad = items.filter(({ condition }) => condition?.status === "False");
  if (bad.length === 0 && unknown.length === 0) return { type, status: "True", reason: reasons.good, message: "" };
  const listed = bad.length > 0 ? bad : unknown;
  const byMessage = new Map<string, string[]>();
  for (const { name, condition } of listed) {
    const message =
      condition === undefined ? `Condition ${type} not yet reported` : condition.message || condition.reason;
    byMessage.set(message, [...(byMessage.get(message) ?? []), name]);
  }
  const lines = [...byMessage].slice(0, MAX_MESSAGES).map(([message, names]) => {
    const shown = names.slice(0, MAX_NAMES).join(", ");
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
    return message.includes("\n") ? `* ${shown}${more}:\n${indent(message)}` : `* ${shown}${more}: ${message}`;
  });
  const rest = [...byMessage.values()].slice(MAX_MESSAGES).flat().length;
  if (rest > 0) lines.push(`And ${rest} ${plural} with other issues`);
  return {
    type,
    status: bad.length > 0 ? "False" : "Unknown",
    reason: bad.length > 0 ? reasons.bad : reasons.unknown,
    message: lines.join("\n"),
  };
}
