import { domainForNew } from "./failure-domains.ts";
import { successors } from "./leadership.ts";
import { orphanStep } from "./members.ts";
import { deletionStep } from "./pre-terminate.ts";
import { preflight } from "./preflight.ts";
import { isReplaced, recoveredMachines, remediate, wantedNow } from "./remediation.ts";
import { machineToRemove } from "./select-machine.ts";
import type { Deferral, Plan, Step } from "./step.ts";
import { type ControlPlaneView, isDeleting, type MachineView } from "./view.ts";

const WORKERS_RECHECK_MS = 30_000;
const LEADER_RECHECK_MS = 15_000;

/** Decides the next step of a control plane. It is one at a time, and each follows from the observed state alone. */
export function planControlPlane(observed: ControlPlaneView): Plan {
  const completed = isReplaced(observed);
  const view = completed ? { ...observed, remediation: { ...observed.remediation, inProgress: undefined } } : observed;
  return { ...planFor(view), remediationCompleted: completed };
}

function planFor(view: ControlPlaneView): Omit<Plan, "remediationCompleted"> {
  if (view.deleting) return planOf(removal(view), undefined, view);
  const orphan = orphanStep(view);
  const urgent = orphan?.type === "removeMember" ? orphan : deletionStep(view);
  if (urgent !== undefined) return planOf(urgent, undefined, view);
  const remediation = remediate(view);
  if (remediation !== undefined && "step" in remediation) return planOf(remediation.step, undefined, view);
  // A member that is kept for the quorum waits for the repair of others.
  return planOf(orphan ?? growth(view), remediation?.deferral, view);
}

function planOf(
  step: Step,
  deferral: Deferral | undefined,
  view: ControlPlaneView,
): Omit<Plan, "remediationCompleted"> {
  return { step, deferral, recovered: recoveredMachines(view) };
}

/** Deletes the control plane after all workers. Its etcd is deleted as a whole, so no member has to be removed. */
function removal({ machines, workersLeft }: ControlPlaneView): Step {
  if (machines.length === 0) return { type: "finished" };
  if (workersLeft.length === 0) return { type: "deleteAll", machines: machines.map(({ name }) => name) };
  const list = workersLeft.map((name) => `* ${name}`).join("\n");
  return {
    type: "wait",
    reason: "WorkersLeft",
    message: `KubeadmControlPlane deletion blocked because following objects still exist:\n${list}`,
    recheckMs: WORKERS_RECHECK_MS,
  };
}

/** Replaces outdated Machines, then adjusts their number. */
function growth(view: ControlPlaneView): Step {
  const { machines, replicas } = view;
  const outdated = machines.filter((machine) => !machine.upToDate && !isDeleting(machine));
  if (outdated.length > 0) return machines.length < wantedNow(view) ? join(view) : shrink(view, outdated, "rollout");
  if (machines.length < replicas)
    return machines.length === 0 ? { type: "create", mode: "init", failureDomain: domainForNew(view) } : join(view);
  return machines.length > replicas ? shrink(view, [], "scaleDown") : { type: "none" };
}

function join(view: ControlPlaneView): Step {
  return preflight(view, { add: true }) ?? { type: "create", mode: "join", failureDomain: domainForNew(view) };
}

function shrink(view: ControlPlaneView, outdated: readonly MachineView[], why: "rollout" | "scaleDown"): Step {
  const machine = machineToRemove(view, outdated);
  if (machine === undefined) return { type: "none" };
  const problem = preflight(view, { add: false, remove: machine.name });
  if (problem !== undefined) return problem;
  const moveLeaderTo = successors(view, machine);
  if (moveLeaderTo !== undefined)
    return { type: "delete", machine: machine.name, why, moveLeaderTo, record: undefined };
  return {
    type: "wait",
    reason: "LeaderUnknown",
    message: `Machine ${machine.name} is kept: no other member can take over the leadership of etcd`,
    recheckMs: LEADER_RECHECK_MS,
  };
}
