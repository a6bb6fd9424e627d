import { domainForNew } from "./failure-domains.ts";
import { successors } from "./leadership.ts";
import { hasHealthyComponents, keepsComponents, keepsQuorum, votesOf } from "./quorum.ts";
import type { Step, WaitReason } from "./step.ts";
import { type ControlPlaneView, isDeleting, type MachineView, type MemberView } from "./view.ts";

/** A drain takes minutes; its end is watched. */
const RECHECK_MS = 30_000;

/**
 * Decides about Machines that are being deleted, one after the other: once its Node is drained, the member of etcd is removed and the
 * pre-terminate hook released. A Machine that the control plane cannot lose is held. Undefined if no Machine is being deleted.
 */
export function deletionStep(view: ControlPlaneView): Step | undefined {
  const deleting = view.machines.filter(isDeleting);
  if (deleting.length === 0) return undefined;
  const released = deleting.find(({ hooks }) => !hooks.ours);
  if (released !== undefined) return wait("MachineDeleting", `Machine ${released.name} is being deleted`);
  const steps = deleting
    .sort((a, b) => (a.deletingSinceMs ?? 0) - (b.deletingSinceMs ?? 0) || (a.name < b.name ? -1 : 1))
    .map((machine) => releaseStep(view, machine));
  // A Machine that is held may wait for another one that is deleted after it, such as its own replacement that does not start.
  return steps.find((step) => step.type !== "wait" || step.reason === "MachineDeleting") ?? steps[0];
}

function releaseStep(view: ControlPlaneView, machine: MachineView): Step {
  const { name, hooks } = machine;
  const release = (removeMember?: string, moveLeaderTo: readonly string[] = []): Step => ({
    type: "releaseHook",
    machine: name,
    removeMember,
    moveLeaderTo,
  });
  if (view.machines.length <= 1 && view.initialized) return replaceLast(view, machine);
  // The kubelet must keep working for the hooks of others.
  if (hooks.others) return wait("MachineDeleting", `Machine ${name} waits for the pre-terminate hooks of other owners`);
  if (!hooks.waiting) return wait("MachineDeleting", `Machine ${name} is being drained`);
  if (view.machines.length <= 1) return release();
  if (!keepsComponents(view, name))
    return wait(
      "NoHealthyControlPlane",
      `Machine ${name} is kept: no other control plane Machine has healthy components. Repair one of them, or delete it to have it replaced`,
    );
  if (!view.etcdManaged) return release();
  if ("unknown" in view.members)
    return wait("MembersUnknown", `Machine ${name} is kept: the members of etcd are unknown: ${view.members.unknown}`);
  const member = votesOf(view, machine);
  // A learner whose Node is not recorded has no vote; it is removed later as one without a Machine.
  if (member === undefined) return release();
  if (!keepsQuorum(view.members, view, { removeMember: member.id }))
    return wait(
      "QuorumWouldBeLost",
      `Machine ${name} is kept: etcd could lose its quorum without it. Repair the unhealthy members first`,
    );
  if (machine.nodeName === undefined) return removeStray(view, machine, member);
  const moveLeaderTo = successors(view, machine);
  if (moveLeaderTo === undefined)
    return wait("LeaderUnknown", `Machine ${name} is kept: no other member can take over the leadership of etcd`);
  return release(member.id, moveLeaderTo);
}

/**
 * A member that may belong to this Machine, whose Node is not recorded. Members of such Machines are removed first, one after the other, and
 * then the Machines are released: which is whose does not matter once all of these Machines are deleted.
 */
function removeStray({ machines }: ControlPlaneView, { name }: MachineView, member: MemberView): Step {
  const other = machines.find((each) => each.nodeName === undefined && !isDeleting(each));
  if (other === undefined)
    return {
      type: "removeMember",
      memberId: member.id,
      message: `The member ${member.name} of etcd belongs to no Machine but ${name}, whose Node is not recorded`,
    };
  return wait(
    "MembersUnknown",
    `Machine ${name} is kept: the member ${member.name} of etcd belongs either to it or to Machine ${other.name}, and neither has a Node yet`,
  );
}

/** The last Machine has the only copy of the cluster's data: another one takes it over before it may go. */
function replaceLast(view: ControlPlaneView, machine: MachineView): Step {
  if (hasHealthyComponents(view, machine) && view.certificatesAvailable)
    return { type: "create", mode: "join", failureDomain: domainForNew(view) };
  return wait(
    "NoHealthyControlPlane",
    `Machine ${machine.name} is kept: it is the last one and not healthy, so that no other can take over the data of the cluster. Repair it, recover the control plane from a backup, or delete the Cluster`,
  );
}

function wait(reason: WaitReason, message: string): Step {
  return { type: "wait", reason, message, recheckMs: RECHECK_MS };
}
