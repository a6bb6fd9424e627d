import { Cluster, CONTROL_PLANE_LABEL, KubeadmControlPlane, pausedCondition, RECOVERY_ANNOTATION } from "@capstan/capi";
import type { ReconcileContext, Request } from "@capstan/runtime";
import { type MachinePlane, placeOf } from "../backup/machine-backups.ts";
import { controlPlaneOf, machinesOfCluster } from "../indexes.ts";
import type { ControlPlaneRecovery } from "../kinds/control-plane-recovery.ts";
import type { RecoveryDeps } from "./kubeadm-target.ts";

/** Whether a recovery holds no control plane by itself: what is held in its name was left by an earlier one. */
export function holdsNothing(recovery: ControlPlaneRecovery | undefined): boolean {
  return recovery === undefined || /^(Planning|WaitingForApproval|Refused)$/.test(recovery.status?.phase ?? "Planning");
}

/**
 * Releases the control planes that a deleted recovery has left held once their etcd has a leader, because every other recovery is refused
 * then. Returns whether one is still held.
 */
export async function releaseAbandoned(
  { namespace, name }: Request,
  context: ReconcileContext,
  deps: Pick<RecoveryDeps, "ways" | "side">,
): Promise<boolean> {
  const held = context.cache
    .list(KubeadmControlPlane, { namespace })
    .filter(({ metadata }) => metadata.annotations?.[RECOVERY_ANNOTATION] === name);
  let isHeld = false;
  for (const controlPlane of held) {
    const plane = planeOfOwner(controlPlane, context);
    if (plane === undefined || !(await hasLeader(plane, context, deps))) {
      isHeld = true;
      continue;
    }
    const { key, cluster } = plane;
    const machines = machinesOf(plane, context);
    await deps.side.removeStrayNodes({
      cluster: key,
      controlPlane,
      machines,
      kubeadmConfigs: new Map(),
      etcdManaged: true,
    });
    // Last, as a manager that is killed before it has to find the control plane again. Refused if another recovery was faster.
    const { resourceVersion } = controlPlane.metadata;
    await context.client.patch(controlPlane, {
      metadata: { annotations: { [RECOVERY_ANNOTATION]: null }, resourceVersion },
    });
    const note = `ControlPlaneRecovery ${name} was deleted, and etcd of Cluster ${cluster.metadata.name ?? ""} has a leader: the control plane continues without it`;
    context.recorder.event(controlPlane, "Normal", "RecoveryOver", "Recover", note);
  }
  return isHeld;
}

/** Undefined while nothing may change, and for a control plane that no Cluster names. */
function planeOfOwner(controlPlane: KubeadmControlPlane, { cache }: ReconcileContext): MachinePlane | undefined {
  const { namespace = "", name, deletionTimestamp, ownerReferences = [] } = controlPlane.metadata;
  const owner = ownerReferences.find(({ kind }) => kind === Cluster.kind)?.name ?? "";
  const cluster = cache.get(Cluster, { namespace, name: owner });
  if (cluster === undefined || !controlPlaneOf(cluster).some((each) => each.name === name)) return undefined;
  const isDeleting = deletionTimestamp !== undefined || cluster.metadata.deletionTimestamp !== undefined;
  if (isDeleting || pausedCondition(controlPlane, cluster).status === "True") return undefined;
  return { key: { namespace, name: owner }, cluster, controlPlane };
}

const machinesOf = ({ key }: MachinePlane, { cache }: ReconcileContext) =>
  machinesOfCluster(cache, key).filter(({ metadata }) => metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined);

/** Machines that are being deleted take their members along: a leader counts only once they are gone. */
async function hasLeader(
  plane: MachinePlane,
  context: ReconcileContext,
  { ways }: Pick<RecoveryDeps, "ways">,
): Promise<boolean> {
  const machines = machinesOf(plane, context);
  if (machines.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return false;
  for (const machine of machines) {
    const place = placeOf(machine);
    if (place === undefined) continue;
    try {
      const { client, endpoint } = await ways.open(plane.key, place);
      const { leader } = await client.status(endpoint);
      if (leader !== "" && leader !== "0") return true;
    } catch {
      // One that does not answer says nothing about the others.
    }
  }
  return false;
}
