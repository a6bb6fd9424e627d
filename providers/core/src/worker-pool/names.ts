import type { WorkerPool } from "@capstan/capi";

/** On everything of a pool: the pool's name. */
export const POOL_LABEL = "capstan.dev/worker-pool";

/** Index of Machines by MachineDeployment. */
export const MACHINES_BY_DEPLOYMENT = "worker-pool-deployment";

/** The MachineDeployment of one member. */
export function deploymentName(pool: WorkerPool, member: string): string {
  return `${pool.metadata.name}-${member}`;
}
