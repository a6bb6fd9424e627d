import type { ConditionInput } from "../contract/conditions.ts";

interface Counts {
  /** Undefined: spec.replicas is not set. */
  desired: number | undefined;
  current: number;
  deleting: boolean;
}

const text = (desired: number): string => `${desired} replica${desired === 1 ? "" : "s"}`;

/** Computes the ScalingUp condition of owners of Machines. */
export function scalingUp({
  desired,
  current,
  deleting,
  blocked,
}: Counts & { blocked: readonly string[] }): ConditionInput {
  const type = "ScalingUp";
  if (desired === undefined)
    return { type, status: "Unknown", reason: "WaitingForReplicasSet", message: "Waiting for spec.replicas set" };
  if (deleting || current >= desired)
    return {
      type,
      status: "False",
      reason: "NotScalingUp",
      message: !deleting && blocked.length > 0 ? `Scaling up would be blocked because: ${blocked.join("; ")}` : "",
    };
  const message = `Scaling up from ${current} to ${text(desired)}`;
  return {
    type,
    status: "True",
    reason: "ScalingUp",
    message:
      blocked.length === 0 ? message : `${message} is blocked because:\n${blocked.map((b) => `* ${b}`).join("\n")}`,
  };
}

/** Computes the ScalingDown condition of owners of Machines. */
export function scalingDown({
  desired,
  current,
  stale,
  blocked = [],
}: Counts & { stale?: string | undefined; blocked?: readonly string[] }): ConditionInput {
  const type = "ScalingDown";
  if (desired === undefined)
    return { type, status: "Unknown", reason: "WaitingForReplicasSet", message: "Waiting for spec.replicas set" };
  if (current <= desired) return { type, status: "False", reason: "NotScalingDown", message: "" };
  const message = `Scaling down from ${current} to ${text(desired)}`;
  return {
    type,
    status: "True",
    reason: "ScalingDown",
    message: scalingDownMessage(message, stale, blocked),
  };
}

function scalingDownMessage(message: string, stale: string | undefined, blocked: readonly string[]): string {
  const lines = [...blocked, ...(stale === undefined ? [] : [stale])].map((line) => `* ${line}`);
  if (lines.length === 0) return message;
  return [blocked.length === 0 ? message : `${message} is blocked because:`, ...lines].join("\n");
}
