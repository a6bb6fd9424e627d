import { type Condition, findCondition, type KubeObject } from "@capstan/apimachinery";
import { conditionsOf, field, notReady } from "@capstan/capi";

/** A host that sends no heartbeat for this long counts as silent; the manager uses the same time. */
const SILENT_AFTER_MS = 180_000;

/** The Ready condition of a host that is silent or could not become a node; undefined without such a problem. */
export function troubleOf(host: KubeObject, nowMs: number): Condition | undefined {
  const silence = silenceOf(host, nowMs);
  if (silence !== undefined || field(host, "status", "bootstrap", "phase") !== "Failed") return silence;
  const ready = findCondition(conditionsOf(host as { status?: unknown }), "Ready");
  const since = ready?.lastTransitionTime ?? host.metadata.creationTimestamp ?? "";
  return notReady("False", "BootstrapFailed", textAt(host, "bootstrap", "message") ?? "", since);
}

/**
 * The Ready condition of a host whose agent is silent; undefined while heartbeats arrive. Only the agent writes a host's own Ready
 * condition, so it keeps its last value when the agent dies. The manager's AgentConnected condition reports the silence, and before
 * that the age of the last heartbeat does, unless the host's clock is known to be wrong.
 */
function silenceOf(host: KubeObject, nowMs: number): Condition | undefined {
  const heard = textAt(host, "lastHeartbeatTime");
  const connected = findCondition(conditionsOf(host as { status?: unknown }), "AgentConnected");
  if (connected?.status === "False") {
    const reason = connected.reason === "HeartbeatTimeout" ? "AgentSilent" : connected.reason;
    return notReady("Unknown", reason, connected.message, heard ?? connected.lastTransitionTime);
  }
  if (heard === undefined || nowMs - Date.parse(heard) <= SILENT_AFTER_MS || isSkewed(host)) return undefined;
  const message = "The agent has stopped reporting: check that the host is powered on and reaches the management API.";
  return notReady("Unknown", "AgentSilent", message, heard);
}

/** When a reporting host becomes silent unless another heartbeat arrives. */
export function silentAtMs(host: KubeObject, nowMs: number): number | undefined {
  const heard = textAt(host, "lastHeartbeatTime");
  if (heard === undefined || isSkewed(host) || silenceOf(host, nowMs) !== undefined) return undefined;
  return Date.parse(heard) + SILENT_AFTER_MS + 1;
}

/** Whether the manager has found that the host's clock, which dates its heartbeats, is wrong. */
function isSkewed(host: KubeObject): boolean {
  return findCondition(conditionsOf(host as { status?: unknown }), "ClockInSync")?.status === "False";
}

function textAt(host: KubeObject, ...path: string[]): string | undefined {
  const value = field(host, "status", ...path);
  return typeof value === "string" && value !== "" ? value : undefined;
}
