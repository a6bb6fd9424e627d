import type { ConditionInput } from "@capstan/capi";

interface Counts {
  /** Undefined: nobody has said how many there should be. */
  desired: number | undefined;
  current: number;
  deleting: boolean;
}

const text = (desired: number): string => `${desired} replica${desired === 1 ? "" : "s"}`;

/** Computes the ScalingUp condition of MachineSets and MachineDeployments. */
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

/** Computes the ScalingDown condition of MachineSets and MachineDeployments. */
export function scalingDown({ desired, current, stale }: Counts & { stale?: string | undefined }): ConditionInput {
  const type = "ScalingDown";
  if (desired === undefined)
    return { type, status: "Unknown", reason: "WaitingForReplicasSet", message: "Waiting for spec.replicas set" };
  if (current <= desired) return { type, status: "False", reason: "NotScalingDown", message: "" };
  const message = `Scaling down from ${current} to ${text(desired)}`;
  return {
    type,
    status: "True",
    reason: "ScalingDown",
    message: stale === undefined ? message : `${message}\n* ${stale}`,
  };
}
