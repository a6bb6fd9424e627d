import type { MachineDeployment, MachineSet } from "@capstan/capi";

/** Bookkeeping on MachineSets; the plural "clusters" is upstream's. */
export const REVISION_ANNOTATION = "machinedeployment.clusters.x-k8s.io/revision";
export const DESIRED_REPLICAS_ANNOTATION = "machinedeployment.clusters.x-k8s.io/desired-replicas";
export const MAX_REPLICAS_ANNOTATION = "machinedeployment.clusters.x-k8s.io/max-replicas";

/** The revision of a MachineSet or the current one of a MachineDeployment; 0 when it has none. */
export function revisionOf(object: MachineSet | MachineDeployment): number {
  const value = Number(object.metadata.annotations?.[REVISION_ANNOTATION] ?? "0");
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** Whether a MachineSet is an older revision than the current one. */
export function isOutdated(set: MachineSet | undefined, deployment: MachineDeployment | undefined): boolean {
  return set !== undefined && deployment !== undefined && revisionOf(set) < revisionOf(deployment);
}
