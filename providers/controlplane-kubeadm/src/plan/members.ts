import { keepsQuorum } from "./quorum.ts";
import type { RemoveMember, Wait } from "./step.ts";
import { type ControlPlaneView, isDeleting, type MachineView, type MemberView, strayMembers } from "./view.ts";

const RECHECK_MS = 15_000;

/**
 * Decides about a member of etcd that belongs to no Machine: it is removed when that cannot cost the quorum, one that never started first.
 * It stays while a Machine has no Node yet, because the member may be that Machine's, unless it never started and the Machine goes as well.
 */
export function orphanStep(view: ControlPlaneView): RemoveMember | Wait | undefined {
  if (!view.etcdManaged || "unknown" in view.members) return undefined;
  const { machines, members, youngNodes } = view;
  const orphan = strayMembers(view).sort((a, b) => (a.name < b.name ? -1 : 1))[0];
  if (machines.length === 0 || orphan === undefined) return undefined;
  const goes = (machine: MachineView): boolean => machine.healthCheck === "failed" || isDeleting(machine);
  const coming = machines.filter((machine) => machine.nodeName === undefined && !(orphan.name === "" && goes(machine)));
  if (coming.length > 0) return undefined;
  if (orphan.name === "") {
    // kubeadm adds the member before its etcd starts; the kubelet may have registered the Node by then.
    const starting = machines.some((each) => !isDeleting(each) && youngNodes.has(each.nodeName ?? ""));
    if (starting) return undefined;
    return remove(orphan, "A member of etcd that never started belongs to no Machine");
  }
  if (keepsQuorum(members, view, { removeMember: orphan.id }))
    return remove(orphan, `The member ${orphan.name} of etcd belongs to no Machine`);
  return {
    type: "wait",
    reason: "OrphanedMember",
    message: `The member ${orphan.name} of etcd belongs to no Machine, but etcd could lose its quorum without it. Repair the unhealthy members first`,
    recheckMs: RECHECK_MS,
  };
}

function remove({ id }: MemberView, message: string): RemoveMember {
  return { type: "removeMember", memberId: id, message };
}
