import { successors } from "./leadership.ts";
import { pendingVersion, preflight } from "./preflight.ts";
import { keepsComponents, keepsQuorum, votesOf } from "./quorum.ts";
import { nextRecord } from "./retry-limit.ts";
import type { Deferral, Step } from "./step.ts";
import { type Components, type ControlPlaneView, isDeleting, type MachineView } from "./view.ts";

/** What follows for a Machine that failed its health check: its deletion, or why it has to wait. */
export type Remediation = { readonly step: Extract<Step, { type: "delete" }> } | { readonly deferral: Deferral };

/** Decides about Machines whose health check failed, one at a time; undefined if no Machine is to be remediated now. */
export function remediate(view: ControlPlaneView): Remediation | undefined {
  const failed = view.machines.filter((each) => each.healthCheck === "failed" && each.awaitsRemediation);
  const [first, ...others] = failed.sort((a, b) => byDamage(a, b, view.etcdManaged));
  if (first === undefined || isDeleting(first)) return undefined;
  const remediation = remediateOne(view, first);
  if (remediation === undefined || "step" in remediation || remediation.deferral.reason !== "CannotBeRemediated")
    return remediation;
  // The worst Machine may be needed until another one is repaired, such as one whose member never gets its vote.
  const other = others
    .map((machine) => remediateOne(view, machine))
    .find((each) => each !== undefined && "step" in each);
  return other ?? remediation;
}

function remediateOne(view: ControlPlaneView, machine: MachineView): Remediation | undefined {
  const { inProgress: pending } = view.remediation;
  const inProgress = pending?.machine === machine.name ? pending : undefined;
  // The replacement of another Machine has yet to be created, unless this one stands in its way.
  if (pending !== inProgress && (isNeeded(view, machine) || preflight(view, { add: true }) === undefined))
    return undefined;
  const { name } = machine;
  const defer = (message: string): Remediation => ({
    deferral: { machine: name, reason: "RemediationDeferred", message },
  });
  const refuse = (message: string): Remediation => ({
    deferral: { machine: name, reason: "CannotBeRemediated", message },
  });

  const version = pendingVersion(view);
  if (version !== undefined)
    return defer(
      `KubeadmControlPlane can't remediate while waiting for a version upgrade to ${version} to be propagated from Cluster.spec.topology`,
    );
  // Recorded, but not deleted yet: the manager stopped in between.
  const record = inProgress ?? nextRecord(view, machine);
  if ("reason" in record) return { deferral: record };
  const remove = (moveLeaderTo: readonly string[]): Remediation => ({
    step: { type: "delete", machine: name, why: "remediation", moveLeaderTo, record },
  });
  if (!view.initialized) return remove([]);

  if (view.machines.length <= 1)
    return refuse("KubeadmControlPlane can't remediate if current replicas are less or equal to 1");
  if (view.machines.some((each) => each.healthCheck !== "failed" && each.nodeName === undefined))
    return defer(
      "KubeadmControlPlane waiting for control plane Machine provisioning to complete before triggering remediation",
    );
  if (view.machines.some(isDeleting))
    return defer(
      "KubeadmControlPlane waiting for control plane Machine deletion to complete before triggering remediation",
    );
  if (view.etcdManaged && ("unknown" in view.members || view.members.length === 0))
    return defer("Failed to check etcd cluster health before remediation");
  if (!survives(view, machine))
    return refuse(
      "KubeadmControlPlane can't remediate this Machine because this could result in loosing Kubernetes control plane components or in etcd quorum loss",
    );
  const moveLeaderTo = successors(view, machine);
  return moveLeaderTo === undefined
    ? refuse("unable to move etcd leadership, no other member can take over")
    : remove(moveLeaderTo);
}

/** Whether etcd would tolerate less without a Machine, or would have a single copy of its data. */
function isNeeded(view: ControlPlaneView, machine: MachineView): boolean {
  const member = votesOf(view, machine);
  if (member === undefined || member.learner || "unknown" in view.members) return false;
  if (view.machines.length >= view.replicas) return false;
  const voting = view.members.filter(({ learner }) => !learner).length;
  return machine.components.etcdMember.status === "True" || voting <= 2;
}

/** Whether the last remediated Machine is replaced, or is gone and needs no replacement, because fewer Machines are wanted now. */
export function isReplaced(view: ControlPlaneView): boolean {
  const { machines } = view;
  const { inProgress } = view.remediation;
  if (inProgress === undefined) return false;
  if (!machines.some(({ name }) => name === inProgress.machine) && machines.length >= wantedNow(view)) return true;
  // The times of objects have a resolution of a second, in which a replacement may be created.
  return machines.some(
    ({ remediationFor }) =>
      remediationFor?.machine === inProgress.machine && remediationFor.timeMs === inProgress.timeMs,
  );
}

/** How many Machines there may be: a rollout has additional ones. */
export function wantedNow({ machines, replicas, maxSurge }: ControlPlaneView): number {
  return machines.some((machine) => !machine.upToDate && !isDeleting(machine)) ? replicas + maxSurge : replicas;
}

/** Machines that recovered before they were remediated. */
export function recoveredMachines({ machines }: ControlPlaneView): string[] {
  return machines
    .filter((each) => !isDeleting(each) && each.healthCheck === "passed" && each.awaitsRemediation)
    .map(({ name }) => name);
}

function survives(view: ControlPlaneView, machine: MachineView): boolean {
  if (!keepsComponents(view, machine.name)) return false;
  const member = votesOf(view, machine);
  if (!view.etcdManaged || member === undefined || "unknown" in view.members) return true;
  return keepsQuorum(view.members, view, { removeMember: member.id });
}

/** The most damaged Machine first: it is the one that stands in the way of its own replacement. */
function byDamage(a: MachineView, b: MachineView, etcdManaged: boolean): number {
  return damageOf(a, etcdManaged) - damageOf(b, etcdManaged) || a.createdMs - b.createdMs || (a.name < b.name ? -1 : 1);
}

/** Lower is worse; each property outweighs all that follow. */
function damageOf({ remediateAnnotation, nodeName, components }: MachineView, etcdManaged: boolean): number {
  const etcd: (keyof Components)[] = etcdManaged ? ["etcdMember", "etcdPod"] : [];
  const judged: (keyof Components)[] = [...etcd, "apiServer", "controllerManager", "scheduler", "nodeLabels"];
  const good = [
    !remediateAnnotation,
    nodeName !== undefined,
    ...judged.map((each) => components[each].status === "True"),
  ];
  return good.reduce((rank, fine) => 2 * rank + Number(fine), 0);
}
