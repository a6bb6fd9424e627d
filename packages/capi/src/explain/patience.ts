import { INSUFFICIENT_CAPACITY } from "../contract/constants.ts";
import type { ProviderDescription } from "../sdk/description.ts";
import { isHostKind } from "./host-kinds.ts";
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
/** For objects that worked before, or that wait for a user: long enough for a restart, or for the rest of an `apply`. */
const SHORT_MS = 60_000;

/** Reasons that do not resolve without action. */
const FAULTS =
  /^(AgentSilent|HostSilent|HeartbeatTimeout|CertificateExpired|ProgressDeadlineExceeded|UpgradeFailed|ConfigurationRefused|BinariesMissing|Invalid.+|DataCorrupt|DataLost|DataWouldBeLost|DiskFull|NoSpace|QuotaExceeded|EtcdQuorumLost|NameTaken|PortTaken|AddressNotUsable|StorageFixed|HostClusterForbids|HostClusterRefuses|BackupNotFound|NodeDeleted|BootstrapFailed|ClonedMachineID|ReconcileFailed|ClusterClassNotReconciled)$/;
/** Reasons that a user has to resolve. */
const NEEDS_A_PERSON = /^(ObjectDoesNotExist|ClusterDoesNotExist)$/;
/** Reasons of a serving control plane that changes. */
const CHANGING = /(ing|RollingOut|NotAsked)$/;
/** Matches condition messages that say that a Node's kubelet stopped reporting. */
export const SILENT_KUBELET = /kubelet stopped posting|stopped posting node status/i;
/** Matches condition messages that say that a Node has no working pod network. */
export const NO_NETWORK = /cni|network plugin|NetworkReady=false|NetworkPluginNotReady/i;

type Providers = readonly Pick<ProviderDescription, "why">[];

/** Whether the cause is a lack of capacity: no free machine, or no member of a pool with room. */
export function isCapacity(cause: Cause, providers: Providers): boolean {
  return cause.reason === "NoMemberHasRoom" || isShortOfCapacity(cause, providers);
}

/** Whether a machine waits because its provider has no capacity left. */
export function isShortOfCapacity({ reason }: Cause, providers: Providers): boolean {
  return (
    reason === INSUFFICIENT_CAPACITY || providers.some(({ why }) => why?.capacityReasons?.includes(reason) === true)
  );
}

/** Decides how severe a cause is at a given time: a wait becomes Degraded when its deadline passes. */
export function verdictOn({ cause, node }: Link, nowMs: number, providers: Providers): Verdict {
  const { condition, reason, kind } = cause;
  if (condition === "Paused") return { level: "Paused", severity: 0 };
  if (reason === "Hibernated") return { level: "Hibernated", severity: 0 };
  if (condition === "RemoteConnectionProbe" && node.initialized === true) return { level: "Unknown", severity: 2 };
  if (reason === "ConnectionDown") return { level: "Unknown", severity: 3 };
  const severity = kind.endsWith("ControlPlane") ? 1 : kind === "Cluster" ? 2 : isHostKind(kind) ? 3 : 4;
  if (isFault(cause, providers)) return { level: "Degraded", severity: isRollout(cause) ? 5 : severity };
  // A controller that reports Progressing keeps the deadline of its rollouts itself.
  const kept = node.conditions.some(({ type, status }) => type === "Progressing" && status === "True");
  // A rollout comes first: waits of single machines are part of it.
  const waiting = isRollout(cause) ? 10 : 10 + severity;
  if (isRollout(cause) && kept) return { level: "Progressing", severity: waiting };
  // Other changes of a pool do not affect replicas that fit nowhere.
  const sinceMs = condition === "Placed" ? Date.parse(cause.since) || 0 : lastChangeMs(node);
  const deadlineMs = sinceMs + patienceFor({ cause, node }, providers);
  if (nowMs >= deadlineMs) return { level: "Degraded", severity: isRollout(cause) ? 5 : severity };
  return { level: "Progressing", severity: waiting, changesAtMs: deadlineMs };
}

function isRollout({ condition }: Cause): boolean {
  return condition === "UpToDate" || condition === "Progressing";
}

function isFault(cause: Cause, providers: Providers): boolean {
  const { kind, condition, reason, message } = cause;
  if (FAULTS.test(reason)) return true;
  if (kind === "Machine" && SILENT_KUBELET.test(message)) return true;
  if (kind.endsWith("ControlPlane") && condition === "UpToDate") return !CHANGING.test(reason);
  return providers.some(({ why }) => why?.isFault?.(cause) === true);
}

function patienceFor({ cause, node }: Link, providers: Providers): number {
  if (NEEDS_A_PERSON.test(cause.reason) || isCapacity(cause, providers)) return SHORT_MS;
  const worked = node.initialized === true && !node.deleting && cause.condition !== "UpToDate";
  if (worked && !NO_NETWORK.test(cause.message)) return SHORT_MS;
  const machine = node.kind === "Machine" ? node.children : [node];
  const own = machine.flatMap(({ kind }) => providers.flatMap(({ why }) => why?.patienceMs?.[kind] ?? []));
  return own.length === 0 ? PROGRESS_MS : Math.max(...own);
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
