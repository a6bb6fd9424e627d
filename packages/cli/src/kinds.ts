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
 * Where kinds are found in an API and what type their objects have. The definitions in `@capstan/capi` say the same and bring schemas and
 * rules along, which would double the time a command takes to start.
 */
const core = { group: "cluster.x-k8s.io", version: "v1beta2", namespaced: true };

export const Cluster = kindRef<ClusterObject>({ ...core, kind: "Cluster", plural: "clusters" });
export type Cluster = ClusterObject;
export const Machine = kindRef<MachineObject>({ ...core, kind: "Machine", plural: "machines" });
export type Machine = MachineObject;
export const MachineSet = kindRef<MachineSetObject>({ ...core, kind: "MachineSet", plural: "machinesets" });
export const MachinePool = kindRef<MachinePoolObject>({ ...core, kind: "MachinePool", plural: "machinepools" });
export const MachineDeployment = kindRef<MachineDeploymentObject>({
  ...core,
  kind: "MachineDeployment",
  plural: "machinedeployments",
});
export type MachineDeployment = MachineDeploymentObject;
export const WorkerPool = kindRef<WorkerPoolObject>({
  group: "capstan.dev",
  version: "v1alpha1",
  kind: "WorkerPool",
  plural: "workerpools",
  namespaced: true,
});
