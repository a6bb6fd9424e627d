import type { KubeObject } from "@capstan/apimachinery";
import {
  type CapacitySource,
  Cluster,
  DEPLOYMENT_NAME_LABEL,
  Machine,
  MachineDeployment,
  WorkerPool,
} from "@capstan/capi";
import { type Cache, type Controller, type ControllerBuilder, controller, type Request } from "@capstan/runtime";
import { HealthCheckClock } from "../machine-health-check/health-check-clock.ts";
import { usesRoom } from "./cool-down.ts";
import { MACHINES_BY_DEPLOYMENT, POOL_LABEL } from "./names.ts";
import { reconcileWorkerPool } from "./worker-pool.reconcile.ts";

const BY_CLUSTER = "worker-pool-cluster";

/** Adds the cache indexes that the WorkerPool controller reads; call it before the cache starts. */
export function addWorkerPoolIndexes(cache: Cache): void {
  cache.addIndex(Machine, MACHINES_BY_DEPLOYMENT, (machine) => {
    const name = machine.metadata.labels?.[DEPLOYMENT_NAME_LABEL];
    return name === undefined ? [] : [`${machine.metadata.namespace ?? ""}/${name}`];
  });
  cache.addIndex(WorkerPool, BY_CLUSTER, (pool) => [`${pool.metadata.namespace ?? ""}/${pool.spec.clusterName}`]);
}

/** Returns the WorkerPool controller, which also watches MachineDeployments, Machines and the kinds that provide capacity. */
export function workerPoolController(sources: readonly CapacitySource[] = []): Controller {
  const poolOf = (object: { metadata: { namespace?: string; labels?: Record<string, string> } }) => {
    const name = object.metadata.labels?.[POOL_LABEL];
    return name === undefined ? [] : [{ namespace: object.metadata.namespace ?? "", name }];
  };
  const clocks = new HealthCheckClock();
  const builder = controller("worker-pool")
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
    .rank(4);
  for (const source of sources) watchCapacity(builder, source);
  return builder.reconcile((request, context) => reconcileWorkerPool(request, context, sources, clocks));
}

/** Wakes the pools that wait for capacity of a source when it has some. */
function watchCapacity(builder: ControllerBuilder, { kind, machine, template, isNews }: CapacitySource): void {
  const waiting = (namespace: string, cache: Cache): Request[] =>
    cache.synced(WorkerPool)
      ? cache
          .list(WorkerPool, { namespace })
          .filter(({ spec, status }) =>
            spec.members.some(
              ({ name, infrastructureRef }) =>
                infrastructureRef.kind === template.kind &&
                status?.members?.some((member) => member.name === name && usesRoom(member.cause)),
            ),
          )
          .map((pool) => ({ namespace, name: pool.metadata.name ?? "" }))
      : [];
  builder
    .watches<KubeObject>(kind, ({ metadata }, cache) => waiting(metadata.namespace ?? "", cache), {
      predicate: { create: (object) => isNews(object, undefined), update: isNews, delete: () => false },
    })
    .watches<KubeObject>(template, ({ metadata }, cache) => waiting(metadata.namespace ?? "", cache))
    // Read, but they trigger nothing: the Machines that own them are watched.
    .watches(machine, () => []);
}
