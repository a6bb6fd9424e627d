import { Cluster, DEPLOYMENT_NAME_LABEL, Machine, MachineDeployment, WorkerPool } from "@capstan/capi";
import { type Cache, type Controller, controller } from "@capstan/runtime";
import { MACHINES_BY_DEPLOYMENT, POOL_LABEL } from "./names.ts";
import { reconcileWorkerPool } from "./worker-pool.reconcile.ts";

const BY_CLUSTER = "worker-pool-cluster";

/** Adds the indexes the WorkerPool controller looks things up by; before the cache starts. */
export function addWorkerPoolIndexes(cache: Cache): void {
  cache.addIndex(Machine, MACHINES_BY_DEPLOYMENT, (machine) => {
    const name = machine.metadata.labels?.[DEPLOYMENT_NAME_LABEL];
    return name === undefined ? [] : [`${machine.metadata.namespace ?? ""}/${name}`];
  });
  cache.addIndex(WorkerPool, BY_CLUSTER, (pool) => [`${pool.metadata.namespace ?? ""}/${pool.spec.clusterName}`]);
}

/** Watches WorkerPools, their MachineDeployments and Machines. */
export function workerPoolController(): Controller {
  const poolOf = (object: { metadata: { namespace?: string; labels?: Record<string, string> } }) => {
    const name = object.metadata.labels?.[POOL_LABEL];
    return name === undefined ? [] : [{ namespace: object.metadata.namespace ?? "", name }];
  };
  return controller("worker-pool")
    .for(WorkerPool)
    .owns(MachineDeployment)
    .watches(Machine, poolOf)
    .watches(Cluster, (cluster, cache) =>
      cache.synced(WorkerPool)
        ? cache
            .byIndex(WorkerPool, BY_CLUSTER, `${cluster.metadata.namespace ?? ""}/${cluster.metadata.name ?? ""}`)
            .map((pool) => ({ namespace: pool.metadata.namespace ?? "", name: pool.metadata.name ?? "" }))
        : [],
    )
    .concurrency(10)
    .rank(4)
    .reconcile(reconcileWorkerPool);
}
