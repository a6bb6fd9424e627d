import type { MachineDeployment, MachineSet } from "@capstan/capi";

/** Annotation with the revision of a MachineSet or MachineDeployment; upstream spells the prefix with "clusters". */
export const REVISION_ANNOTATION = "machinedeployment.clusters.x-k8s.io/revision";
/** Annotation on a MachineSet: the replicas of its MachineDeployment. */
export const DESIRED_REPLICAS_ANNOTATION = "machinedeployment.clusters.x-k8s.io/desired-replicas";
/** Annotation on a MachineSet: the replicas of its MachineDeployment plus maxSurge. */
export const MAX_REPLICAS_ANNOTATION = "machinedeployment.clusters.x-k8s.io/max-replicas";

/** Returns the revision of a MachineSet, or the current one of a MachineDeployment; 0 if there is none. */
export function revisionOf(object: MachineSet | MachineDeployment): number {
  const value = Number(object.metadata.annotations?.[REVISION_ANNOTATION] ?? "0");
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** Reports whether a MachineSet is an older revision than the deployment's current one. */
export function isOutdated(set: MachineSet | undefined, deployment: MachineDeployment | undefined): boolean {
  return set !== undefined && deployment !== undefined && revisionOf(set) < revisionOf(deployment);
}
