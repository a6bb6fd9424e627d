import { type ControlPlaneView, type MachineView, type MemberView, machineOf, memberOf, strayMembers } from "./view.ts";

/** A change of the control plane whose effect is judged before it is made. */
export interface Change {
  /** One Machine is added. */
  readonly add?: boolean;
  /** This Machine is removed. */
  readonly remove?: string;
  /** This member of etcd is removed. */
  readonly removeMember?: string;
}

/**
 * Whether etcd keeps its quorum after a change. A new member counts as failed, unless there is at most one, because two members tolerate no
 * failure anyway. While a member is a learner nothing may change.
 */
export function keepsQuorum(members: readonly MemberView[], view: ControlPlaneView, change: Change): boolean {
  let voting = change.add === true ? 1 : 0;
  let failed = change.add === true && members.length > 1 ? 1 : 0;
  for (const member of members) {
    if (member.name === "" || (member.learner && member.id !== change.removeMember)) return false;
    if (member.id === change.removeMember) continue;
    voting++;
    if (!isHealthy(member, view)) failed++;
  }
  return voting - failed >= Math.floor(voting / 2) + 1;
}

/**
 * The voting member that goes with a Machine. Without a recorded Node it may be any that belongs to no other Machine: it counts as this
 * one's, because the quorum depends on it.
 */
export function votesOf(view: ControlPlaneView, machine: MachineView): MemberView | undefined {
  if (machine.nodeName !== undefined) return memberOf(view, machine);
  return strayMembers(view).find(({ learner, name }) => !learner && name !== "");
}

/** A member without a Machine has no condition. Its machine may be gone for long, so that only an answer shows that it runs. */
function isHealthy(member: MemberView, view: ControlPlaneView): boolean {
  const machine = machineOf(view, member);
  return machine === undefined
    ? member.answered === true && member.alarms.length === 0
    : machine.components.etcdMember.status === "True";
}

/**
 * Whether a Machine whose components are all healthy is left after a removal. Components of a Machine use those of the same Machine only,
 * so that a set counts as a whole.
 */
export function keepsComponents(view: ControlPlaneView, removed: string | undefined): boolean {
  return view.machines.some((machine) => machine.name !== removed && hasHealthyComponents(view, machine));
}

/** Whether all components of a Machine are healthy; its etcd member is judged by the quorum. */
export function hasHealthyComponents(view: ControlPlaneView, { components }: MachineView): boolean {
  const { apiServer, controllerManager, scheduler, etcdPod } = components;
  return [apiServer, controllerManager, scheduler, ...(view.etcdManaged ? [etcdPod] : [])].every(
    ({ status }) => status === "True",
  );
}
