import type { ObjectNode } from "./object-node.ts";
import type { Cause, Link } from "./why.ts";

/** The state that a cause puts its object into: any state but Healthy. */
export type Level = "Degraded" | "Unknown" | "Progressing" | "Paused" | "Hibernated";

/** How severe a cause is now, and when that changes without a further event. */
export interface Verdict {
  level: Level;
  /** Sort key of causes: the lowest is listed first. */
  severity: number;
  changesAtMs?: number;
}

/** Kubernetes gives a rollout the same time to make progress. */
const PROGRESS_MS = 600_000;
/** For what worked before, or waits for a person: long enough for a restart, or for the other objects of an `apply` to arrive. */
const SHORT_MS = 60_000;

/** Firmware checks and writing an image take bare metal longer, and show in no condition. */
const BARE_METAL_MS = 1_800_000;
const BARE_METAL = /^(Metal3Machine|BareMetalHost)$/;

/** Reasons that never go away by waiting. */
const FAULTS =
  /^(AgentSilent|HostSilent|HeartbeatTimeout|CertificateExpired|ProgressDeadlineExceeded|UpgradeFailed|ConfigurationRefused|BinariesMissing|Invalid.+|DataCorrupt|DataLost|DataWouldBeLost|DiskFull|NoSpace|QuotaExceeded|EtcdQuorumLost|NameTaken|PortTaken|AddressNotUsable|StorageFixed|HostClusterForbids|HostClusterRefuses|BackupNotFound|NodeDeleted|BootstrapFailed|ClonedMachineID|ReconcileFailed|ClusterClassNotReconciled)$/;
/** Reasons that a person has to remove. */
const NEEDS_A_PERSON =
  /^(InsufficientCapacity|AssociateBareMetalHostFailed|NoMemberHasRoom|ObjectDoesNotExist|ClusterDoesNotExist)$/;
/** Of a control plane that serves: a change that is being made. */
const CHANGING = /(ing|NotAsked)$/;
/** Matches condition messages that say that a Node's kubelet stopped reporting. */
export const SILENT_KUBELET = /kubelet stopped posting|stopped posting node status/i;
/** Matches condition messages that say that a Node has no working pod network. */
export const NO_NETWORK = /cni|network plugin|NetworkReady=false|NetworkPluginNotReady/i;

/** Whether the cause is a lack of capacity: no free host, or no member cluster with room. */
export function isCapacity({ reason }: Cause): boolean {
  return /^(InsufficientCapacity|AssociateBareMetalHostFailed|NoMemberHasRoom)$/.test(reason);
}

/** Decides how severe a cause is at a given time: a wait becomes Degraded when its deadline passes. */
export function verdictOn({ cause, node }: Link, nowMs: number): Verdict {
  const { condition, reason, kind } = cause;
  if (condition === "Paused") return { level: "Paused", severity: 0 };
  if (reason === "Hibernated") return { level: "Hibernated", severity: 0 };
  if (condition === "RemoteConnectionProbe" && node.initialized === true) return { level: "Unknown", severity: 2 };
  if (reason === "ConnectionDown") return { level: "Unknown", severity: 3 };
  const severity = kind.endsWith("ControlPlane") ? 1 : kind === "Cluster" ? 2 : kind.endsWith("Host") ? 3 : 4;
  if (isFault(cause)) return { level: "Degraded", severity: isRollout(cause) ? 5 : severity };
  // A controller that reports Progressing keeps the deadline of its rollouts itself.
  const kept = node.conditions.some(({ type, status }) => type === "Progressing" && status === "True");
  // A rollout comes first: what single machines wait for meanwhile belongs to it.
  const waiting = isRollout(cause) ? 10 : 10 + severity;
  if (isRollout(cause) && kept) return { level: "Progressing", severity: waiting };
  // What else happens in a pool says nothing about replicas that fit nowhere.
  const sinceMs = condition === "Placed" ? Date.parse(cause.since) || 0 : lastChangeMs(node);
  const deadlineMs = sinceMs + patienceFor({ cause, node });
  if (nowMs >= deadlineMs) return { level: "Degraded", severity: isRollout(cause) ? 5 : severity };
  return { level: "Progressing", severity: waiting, changesAtMs: deadlineMs };
}

function isRollout({ condition }: Cause): boolean {
  return condition === "UpToDate" || condition === "Progressing";
}

function isFault({ kind, condition, reason, message }: Cause): boolean {
  if (FAULTS.test(reason)) return true;
  if (kind === "Machine" && SILENT_KUBELET.test(message)) return true;
  if (kind.endsWith("ControlPlane") && condition === "UpToDate") return !CHANGING.test(reason);
  return kind === "BareMetalHost" && condition === "Ready" && reason.toLowerCase().endsWith("error");
}

function patienceFor({ cause, node }: Link): number {
  if (NEEDS_A_PERSON.test(cause.reason)) return SHORT_MS;
  const worked = node.initialized === true && !node.deleting && cause.condition !== "UpToDate";
  if (worked && !NO_NETWORK.test(cause.message)) return SHORT_MS;
  const machine = node.kind === "Machine" ? node.children : [node];
  return machine.some(({ kind }) => BARE_METAL.test(kind)) ? BARE_METAL_MS : PROGRESS_MS;
}

/** Returns when the object or one of its parts last changed a condition, was created, or was marked for deletion. */
export function lastChangeMs(node: ObjectNode): number {
  const times = [node.created, node.deletedAt, ...node.conditions.map(({ lastTransitionTime }) => lastTransitionTime)];
  const own = times.flatMap((time) => {
    const ms = time === undefined ? Number.NaN : Date.parse(time);
    return Number.isNaN(ms) ? [] : [ms];
  });
  return Math.max(0, ...own, ...node.children.map(lastChangeMs));
}
