import { keepsComponents, keepsQuorum } from "./quorum.ts";
import type { Wait, WaitReason } from "./step.ts";
import type { Components, ControlPlaneView, MachineView } from "./view.ts";

/** What ends most waits is watched. */
const RECHECK_MS = 15_000;

/** The names of the conditions on a Machine, in the order they are reported. */
export const COMPONENT_CONDITIONS: Readonly<Record<keyof Components, string>> = {
  apiServer: "APIServerPodHealthy",
  controllerManager: "ControllerManagerPodHealthy",
  scheduler: "SchedulerPodHealthy",
  etcdPod: "EtcdPodHealthy",
  etcdMember: "EtcdMemberHealthy",
  nodeLabels: "NodeKubeadmLabelsAndTaintsSet",
};

/** The version that a topology still has to pass on before Machines change; undefined if it has. */
export function pendingVersion({ topology, version }: ControlPlaneView): string | undefined {
  if (topology === undefined || topology.version === version || topology.upgradeStep === version) return undefined;
  return topology.upgradeStep ?? topology.version;
}

/**
 * Why the control plane must not change now; undefined if it may. Every Machine but the one to be removed has to be healthy, so that there
 * is one operation at a time. A replacement during a remediation is possible as long as it cannot cost the quorum.
 */
export function preflight(
  view: ControlPlaneView,
  change: { readonly add: boolean; readonly remove?: string },
): Wait | undefined {
  if (view.machines.length === 0) return undefined;
  const version = pendingVersion(view);
  if (version !== undefined)
    return wait("TopologyVersion", `Waiting for a version upgrade to ${version} to be propagated`);
  if (change.add && !view.certificatesAvailable)
    return wait("CertificatesMissing", "No Machine can join: the certificates of the cluster are not available");
  const problems = view.machines.flatMap((machine) =>
    machine.name === change.remove ? [] : problemsOf(view, machine),
  );
  if (problems.length === 0) return undefined;
  if (change.add && view.remediation.inProgress !== undefined) return replacementProblem(view);
  return wait("NotHealthy", `Waiting for control plane to pass preflight checks: ${problems.join("; ")}`);
}

function replacementProblem(view: ControlPlaneView): Wait | undefined {
  if (!keepsComponents(view, undefined))
    return wait(
      "NoHealthyControlPlane",
      "No control plane Machine has healthy components, which a new one needs to join",
    );
  if (!view.etcdManaged) return undefined;
  if ("unknown" in view.members)
    return wait("MembersUnknown", `The members of etcd are unknown: ${view.members.unknown}`);
  return keepsQuorum(view.members, view, { add: true })
    ? undefined
    : wait(
        "QuorumWouldBeLost",
        "etcd could lose its quorum if another member joined now. Repair the unhealthy members first",
      );
}

function problemsOf({ etcdManaged }: ControlPlaneView, { name, nodeName, components }: MachineView): string[] {
  if (nodeName === undefined)
    return [`Machine ${name} does not have a corresponding Node yet (Machine.status.nodeRef not set)`];
  const judged: (keyof Components)[] = ["apiServer", "controllerManager", "scheduler"];
  if (etcdManaged) judged.push("etcdPod", "etcdMember");
  return judged.flatMap((component) => {
    const { status, message } = components[component];
    if (status === "True") return [];
    return [
      `Machine ${name} reports ${COMPONENT_CONDITIONS[component]} condition is ${status.toLowerCase()} (${message})`,
    ];
  });
}

function wait(reason: WaitReason, message: string): Wait {
  return { type: "wait", reason, message, recheckMs: RECHECK_MS };
}
