import type { Deferral } from "./step.ts";
import type { ControlPlaneView, MachineView, RemediationRecord } from "./view.ts";

/**
 * Counts remediations of the same Machine: a replacement that fails before it was healthy for long is a retry. Returns the record of the
 * next remediation, or why it has to wait.
 */
export function nextRecord(view: ControlPlaneView, machine: MachineView): RemediationRecord | Deferral {
  const { nowMs, remediation } = view;
  const { maxRetry, minHealthyPeriodMs, retryPeriodMs } = remediation;
  const { name, remediationFor: last } = machine;
  if (last === undefined || last.timeMs + minHealthyPeriodMs <= nowMs)
    return { machine: name, timeMs: nowMs, retryCount: 0 };
  const refused = "KubeadmControlPlane can't remediate this machine because the operation already failed";
  if (last.timeMs + retryPeriodMs > nowMs) {
    const message = `${refused} in the latest ${durationOf(retryPeriodMs)} (RetryPeriodSeconds)`;
    return { machine: name, reason: "RemediationDeferred", message };
  }
  if (maxRetry !== undefined && last.retryCount >= maxRetry)
    return {
      machine: name,
      reason: "CannotBeRemediated",
      message: `${refused} ${maxRetry} times (MaxRetry). Repair the cause, then delete the Machine, which the control plane replaces: kubectl delete machine ${name} -n ${view.namespace}; or raise spec.remediation.maxRetry`,
    };
  return { machine: name, timeMs: nowMs, retryCount: last.retryCount + 1 };
}

/** A duration as Go prints it, e.g. `1h0m0s`. */
function durationOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  if (hours > 0) return `${hours}h${minutes}m${rest}s`;
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}
