import { type Condition, findCondition, type KubeObject } from "@capstan/apimachinery";
import { conditionsOf, field } from "../contract/fields.ts";
import { isHostKind } from "./host-kinds.ts";

/** A host that sends no heartbeat for this long counts as silent; the manager uses the same time. */
const SILENT_AFTER_MS = 180_000;

/**
 * The Ready condition of a host whose agent is silent; undefined while heartbeats arrive. Only the agent writes a host's own Ready
 * condition, so it keeps its last value when the agent dies. The manager's AgentConnected condition reports the silence, and before
 * that the age of the last heartbeat does, unless the host's clock is known to be wrong.
 */
export function silenceOf(host: KubeObject, nowMs?: number): Condition | undefined {
  const heard = heartbeatOf(host);
  const connected = findCondition(conditionsOf(host as { status?: unknown }), "AgentConnected");
  if (connected?.status === "False")
    return {
      ...connected,
      type: "Ready",
      status: "Unknown",
      reason: connected.reason === "HeartbeatTimeout" ? "AgentSilent" : connected.reason,
      lastTransitionTime: heard ?? connected.lastTransitionTime,
    };
  if (heard === undefined || nowMs === undefined || nowMs - Date.parse(heard) <= SILENT_AFTER_MS) return undefined;
  if (isSkewed(host)) return undefined;
  return {
    type: "Ready",
    status: "Unknown",
    reason: "AgentSilent",
    message: "The agent has stopped reporting: check that the host is powered on and reaches the management API.",
    lastTransitionTime: heard,
  };
}

/** The Ready condition of a host that is silent, in error, or could not become a node; undefined without such a problem. */
export function hostTrouble(host: KubeObject, nowMs?: number): Condition | undefined {
  if (!isHostKind(host.kind)) return undefined;
  const silence = silenceOf(host, nowMs);
  if (silence !== undefined) return silence;
  const error = textAt(host, "status", "errorMessage");
  if (error !== undefined) {
    return failed(textAt(host, "status", "errorType") ?? "Error", error, errorSince(host, error));
  }
  if (field(host, "status", "bootstrap", "phase") !== "Failed") return undefined;
  const ready = findCondition(conditionsOf(host as { status?: unknown }), "Ready");
  const since = ready?.lastTransitionTime ?? host.metadata.creationTimestamp ?? "";
  return failed("BootstrapFailed", textAt(host, "status", "bootstrap", "message") ?? "", since);
}

/** Since when a host reports an error: status.lastUpdated changes with every attempt, so a condition that shows the error counts first. */
function errorSince(host: KubeObject, error: string): string {
  const shown = conditionsOf(host as { status?: unknown })
    .filter(({ status, message }) => status === "False" && message === error)
    .map(({ lastTransitionTime }) => lastTransitionTime)
    .sort();
  return shown.at(-1) ?? textAt(host, "status", "lastUpdated") ?? host.metadata.creationTimestamp ?? "";
}

/** When a reporting host becomes silent unless another heartbeat arrives. */
export function silentAtMs(host: KubeObject, nowMs: number): number | undefined {
  const heard = isHostKind(host.kind) ? heartbeatOf(host) : undefined;
  if (heard === undefined || isSkewed(host) || silenceOf(host, nowMs) !== undefined) return undefined;
  return Date.parse(heard) + SILENT_AFTER_MS + 1;
}

/** Whether the manager has found that the host's clock, which dates its heartbeats, is wrong. */
function isSkewed(host: KubeObject): boolean {
  return findCondition(conditionsOf(host as { status?: unknown }), "ClockInSync")?.status === "False";
}

function heartbeatOf(host: KubeObject): string | undefined {
  return textAt(host, "status", "lastHeartbeatTime");
}

function textAt(host: KubeObject, ...path: string[]): string | undefined {
  const value = field(host, ...path);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function failed(reason: string, message: string, lastTransitionTime: string): Condition {
  return { type: "Ready", status: "False", reason, message, lastTransitionTime };
}
