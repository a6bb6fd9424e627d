import { isReason, scaledValue } from "@capstan/apimachinery";
import {
  isRemediationRequested,
  type Machine,
  machinesInRemediation,
  machinesToRemediate,
  releaseRecovered,
  setRemediated,
} from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { isOutdated } from "../machine-deployment/revision.ts";
import type { MachineSetScope } from "./machine-set-scope.ts";
import { preflightProblems } from "./preflight.ts";

/** Replaces unhealthy Machines by deleting them, at most as many at a time as allowed. */
export async function remediate(scope: MachineSetScope, context: ReconcileContext): Promise<void> {
  const { set, deployment, machines } = scope;
  await releaseRecovered(machines, context);
  const candidates = machinesToRemediate(machines);
  if (candidates.length === 0) return;
  if (isOutdated(set, deployment)) {
    const message = "Machine won't be remediated because it is pending removal due to rollout";
    for (const machine of candidates) await setRemediated(machine, "CannotBeRemediated", message, context);
    return;
  }
  const allowed = maxInFlight(scope) - machinesInRemediation(machines).length;
  const ordered = candidates.sort(byUrgency);
  const problems = preflightProblems(scope);
  for (const [index, machine] of ordered.entries()) {
    if (problems.length > 0) {
      await setRemediated(machine, "RemediationDeferred", problems.map((text) => `* ${text}`).join("\n"), context);
    } else if (index >= allowed) {
      const message = `Waiting because there are already too many remediations in progress (spec.remediation.maxInFlight is ${String(deployment?.spec.remediation?.maxInFlight)})`;
      await setRemediated(machine, "RemediationDeferred", message, context);
    } else {
      await setRemediated(machine, "MachineDeleting", "Machine is deleting", context);
      await context.client.delete(machine);
      context.recorder.event(
        set,
        "Normal",
        "SuccessfulDelete",
        "RemediateMachine",
        `Deleted unhealthy Machine ${machine.metadata.name}`,
      );
    }
  }
}

function maxInFlight({ deployment, set }: MachineSetScope): number {
  const value = deployment?.spec.remediation?.maxInFlight;
  const replicas = set.spec.replicas ?? 0;
  if (value === undefined) return Math.max(replicas, 1);
  try {
    return scaledValue(value, replicas, true);
  } catch (error) {
    // Neither number nor percentage: admission rejects it; an existing one must not block remediation.
    if (isReason(error, "BadRequest")) return Math.max(replicas, 1);
    throw error;
  }
}

/** Those that a user requested first, then the newest, which have the least to lose. */
function byUrgency(a: Machine, b: Machine): number {
  const asked = (machine: Machine): number => (isRemediationRequested(machine) ? 0 : 1);
  const created = (machine: Machine): number => Date.parse(machine.metadata.creationTimestamp ?? "") || 0;
  return asked(a) - asked(b) || created(b) - created(a) || ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1);
}
