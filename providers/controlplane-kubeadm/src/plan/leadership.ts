import { type ControlPlaneView, isDeleting, type MachineView, memberOf } from "./view.ts";

/**
 * The members that may lead etcd instead of the one of this Machine, the most reliable first; empty if it does not lead. Undefined if it
 * leads and no other member can take over, or if the leader is unknown.
 */
export function successors(view: ControlPlaneView, machine: MachineView): readonly string[] | undefined {
  if (!view.etcdManaged || machine.nodeName === undefined) return [];
  if ("unknown" in view.members) return undefined;
  const leader = view.members.find((member) => member.leader);
  if (leader === undefined) return undefined;
  if (leader.nodeName !== machine.nodeName) return [];
  const candidates = view.machines
    .filter((other) => other.name !== machine.name && !isDeleting(other))
    .sort(byReliability)
    .flatMap((other) => memberOf(view, other) ?? [])
    .filter(({ learner, name }) => !learner && name !== "")
    .map(({ id }) => id);
  return candidates.length === 0 ? undefined : candidates;
}

function byReliability(a: MachineView, b: MachineView): number {
  const rank = ({ components, healthCheck, upToDate }: MachineView): number =>
    (components.etcdMember.status === "True" ? 0 : 4) + (healthCheck === "passed" ? 0 : 2) + (upToDate ? 0 : 1);
  return rank(a) - rank(b) || b.createdMs - a.createdMs || (a.name < b.name ? -1 : 1);
}
