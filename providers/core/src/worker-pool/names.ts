import type { WorkerPool } from "@capstan/capi";

/** Label on all objects of a WorkerPool: the name of the pool. */
export const POOL_LABEL = "capstan.dev/worker-pool";

/** Name of the index of Machines by MachineDeployment. */
export const MACHINES_BY_DEPLOYMENT = "worker-pool-deployment";

/** Returns the name of a member's MachineDeployment. */
export function deploymentName(pool: WorkerPool, member: string): string {
  return `${pool.metadata.name}-${member}`;
}
