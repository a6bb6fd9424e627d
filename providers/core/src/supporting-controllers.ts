import type { WorkloadCalls, WorkloadClusters } from "@capstan/capi";
import type { Cache, Controller } from "@capstan/runtime";
import { clusterResourceSetBindingController } from "./cluster-resource-set/binding.controller.ts";
import { clusterResourceSetController } from "./cluster-resource-set/cluster-resource-set.controller.ts";
import { addClusterResourceSetIndexes } from "./cluster-resource-set/indexes.ts";
import { addIpamIndexes, ipamControllers } from "./ipam/ipam.controllers.ts";
import {
  addMachineHealthCheckIndexes,
  machineHealthCheckController,
} from "./machine-health-check/machine-health-check.controller.ts";
import { addMachinePoolIndexes, machinePoolController } from "./machine-pool/machine-pool.controller.ts";
import { addMachineIndexes } from "./shared/indexes.ts";
import { addTopologyIndexes } from "./topology/indexes.ts";
import { topologyControllers } from "./topology/topology.controllers.ts";

/** Dependencies of the supporting controllers. */
export interface SupportingDeps {
  workload: WorkloadClusters;
  /** Limits the calls of all controllers to workload clusters. */
  calls: WorkloadCalls;
}

/** Returns the controllers of health checks, resource sets, IPAM, MachinePools and topologies. */
export function supportingControllers({ workload, calls }: SupportingDeps): Controller[] {
  return [
    machineHealthCheckController(workload),
    clusterResourceSetController(workload, calls),
    clusterResourceSetBindingController(),
    ...ipamControllers(),
    machinePoolController(workload, calls),
    ...topologyControllers(),
  ];
}

/** Adds the cache indexes that the supporting controllers read; call it before the cache starts. */
export function addSupportingIndexes(cache: Cache): void {
  addMachineIndexes(cache);
  addMachineHealthCheckIndexes(cache);
  addClusterResourceSetIndexes(cache);
  addIpamIndexes(cache);
  addMachinePoolIndexes(cache);
  addTopologyIndexes(cache);
}
