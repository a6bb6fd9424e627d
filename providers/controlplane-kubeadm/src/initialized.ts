import { findCondition } from "@capstan/apimachinery";
import { conditionsOf, type KubeadmControlPlane, type Machine } from "@capstan/capi";
import { INITIALIZED, STARTS_CLUSTER } from "./annotations.ts";
import type { OwnedScope, PlaneScope } from "./scope.ts";
import type { WorkloadObservation } from "./workload/workload-side.ts";

/** Whether the object itself says that `kubeadm init` has finished; the annotation survives moves and restores, which drop the status. */
export function recordsInitialization({ metadata, status }: KubeadmControlPlane): boolean {
  return status?.initialization?.controlPlaneInitialized === true || isAnnotated({ metadata });
}

const isAnnotated = ({ metadata }: Pick<KubeadmControlPlane, "metadata">): boolean =>
  metadata.annotations?.[INITIALIZED] === metadata.name;

/**
 * Whether `kubeadm init` has finished. The first Machine may finish it while it is being replaced, which does not count: its successor
 * would otherwise try to join what is about to be deleted.
 */
export function isInitialized(
  { initialized }: PlaneScope,
  machines: readonly Machine[],
  observation: WorkloadObservation,
): boolean {
  if (initialized) return true;
  const [only, ...others] = machines;
  if (only !== undefined && others.length === 0 && startsCluster(only)) {
    const conditions = conditionsOf(only);
    const failed = ["HealthCheckSucceeded", "OwnerRemediated"].every(
      (type) => findCondition(conditions, type)?.status === "False",
    );
    if (failed || only.metadata.deletionTimestamp !== undefined) return false;
  }
  return observation.initialized === true;
}

/**
 * Whether a Machine may hold data of the cluster. Nothing is recorded on control planes of other managers and older versions whose status
 * was dropped: while their API does not answer, a Machine that exists counts as the only copy of etcd.
 */
export function mayBeInitialized(
  scope: PlaneScope,
  machines: readonly Machine[],
  observation: WorkloadObservation,
): boolean {
  if (isInitialized(scope, machines, observation)) return true;
  if (observation.initialized !== undefined) return false;
  return machines.some(
    (machine) =>
      machine.status?.nodeRef !== undefined || (machine.spec.providerID !== undefined && !startsCluster(machine)),
  );
}

/** Records on the control plane that it is initialized, once. */
export async function recordInitialization({ object, deleting, context }: OwnedScope): Promise<void> {
  if (deleting || isAnnotated(object)) return;
  await context.client.patch(object, { metadata: { annotations: { [INITIALIZED]: object.metadata.name ?? "" } } });
}

/** For such a Machine the control plane records when it is initialized; before, its infrastructure says nothing about etcd. */
const startsCluster = ({ metadata }: Machine): boolean => metadata.annotations?.[STARTS_CLUSTER] !== undefined;
