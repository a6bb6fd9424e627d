import type { ClusterKey, WorkloadClusters, WorkloadConnection } from "./types.ts";

/** The API of a cluster for repairs: through the endpoint, or at the control plane Machines while the endpoint is down. */
export function reach(workloads: WorkloadClusters, cluster: ClusterKey): WorkloadConnection {
  return workloads.atMachines?.(cluster) ?? workloads.get(cluster);
}
