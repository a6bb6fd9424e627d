import type { WorkloadCalls, WorkloadClusters } from "@capstan/capi";
import type { Cache, Controller } from "@capstan/runtime";
import { clusterController } from "./cluster/cluster.controller.ts";
import { addClusterIndexes } from "./cluster/indexes.ts";
import { machineController } from "./machine/machine.controller.ts";
import { type NodeLabelSync, nodeKeys } from "./machine/node-keys.ts";
import { machineDeploymentController } from "./machine-deployment/machine-deployment.controller.ts";
import { machineSetController } from "./machine-set/machine-set.controller.ts";
import { addMachineIndexes } from "./shared/indexes.ts";

/** Dependencies of the core controllers. */
export interface CoreDeps {
  cache: Cache;
  workload: WorkloadClusters;
  /** Limits the calls of all controllers to workload clusters. */
  calls: WorkloadCalls;
  /** Additional labels and annotations of Machines to copy to their Nodes. */
  nodeLabelSync?: NodeLabelSync;
}

/** Returns the controllers of Cluster, Machine, MachineSet and MachineDeployment. */
export function coreControllers({ cache, workload, calls, nodeLabelSync }: CoreDeps): Controller[] {
  return [
    clusterController(workload),
    machineController(workload, cache, calls, nodeKeys(nodeLabelSync)),
    machineSetController(),
    machineDeploymentController(),
  ];
}

/** Adds the cache indexes that the core controllers read; call it before the cache starts. */
export function addCoreIndexes(cache: Cache): void {
  addClusterIndexes(cache);
  addMachineIndexes(cache);
}
