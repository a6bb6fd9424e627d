import type {
  Cluster as ClusterObject,
  MachineDeployment as MachineDeploymentObject,
  Machine as MachineObject,
  MachinePool as MachinePoolObject,
  MachineSet as MachineSetObject,
  WorkerPool as WorkerPoolObject,
} from "@capstan/capi";
import { kindRef } from "@capstan/runtime";

/**
 * Where kinds are found in an API and what type their objects have. The definitions in `@capstan/capi` hold the same, but bring schemas and
 * rules along, which would double the start-up time of a command.
 */
const core = { group: "cluster.x-k8s.io", version: "v1beta2", namespaced: true };

/** Refers to the Cluster kind; lighter to load than the full definition in `@capstan/capi`, as are the others of this file. */
export const Cluster = kindRef<ClusterObject>({ ...core, kind: "Cluster", plural: "clusters" });
export type Cluster = ClusterObject;
/** Refers to the Machine kind without its schema. */
export const Machine = kindRef<MachineObject>({ ...core, kind: "Machine", plural: "machines" });
export type Machine = MachineObject;
/** Refers to the MachineSet kind without its schema. */
export const MachineSet = kindRef<MachineSetObject>({ ...core, kind: "MachineSet", plural: "machinesets" });
/** Refers to the MachinePool kind without its schema. */
export const MachinePool = kindRef<MachinePoolObject>({ ...core, kind: "MachinePool", plural: "machinepools" });
/** Refers to the MachineDeployment kind without its schema. */
export const MachineDeployment = kindRef<MachineDeploymentObject>({
  ...core,
  kind: "MachineDeployment",
  plural: "machinedeployments",
});
export type MachineDeployment = MachineDeploymentObject;
/** Refers to the WorkerPool kind without its schema. */
export const WorkerPool = kindRef<WorkerPoolObject>({
  group: "capstan.dev",
  version: "v1alpha1",
  kind: "WorkerPool",
  plural: "workerpools",
  namespaced: true,
});
