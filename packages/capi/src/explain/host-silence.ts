import { type Condition, findCondition, type KubeObject } from "@capstan/apimachinery";
import { conditionsOf, field } from "../contract/fields.ts";

/** What the manager takes for silence, too. */
const SILENT_AFTER_MS = 180_000;

/**
 * The Ready condition of a host whose agent is silent; undefined while it is heard of. Only its agent writes a host's own Ready, which
 * therefore stays as it was when the agent dies: that shows in what the manager says of it, and before that in the time.
 */
export function silenceOf(host: KubeObject, nowMs?: number): Condition | undefined {
  const heartbeat = field(host, "status", "lastHeartbeatTime");
  const heard = typeof heartbeat === "string" ? heartbeat : undefined;
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
  return {
    type: "Ready",
    status: "Unknown",
    reason: "AgentSilent",
    message: "Its agent has not been heard of since: is the host on, and does it reach the management API?",
    lastTransitionTime: heard,
  };
}
