import {
  Cluster,
  CustomResourceDefinition,
  Machine,
  MachinePool,
  referenceKey,
  type WorkloadCalls,
  type WorkloadClusters,
} from "@capstan/capi";
import { type Cache, type Controller, controller, ignoreStatus, type Request, requestFor } from "@capstan/runtime";
import { BY_CLUSTER, BY_REFERENCE, clusterKey } from "../cluster/indexes.ts";
import { reconcileMachinePool } from "./machine-pool.reconcile.ts";

const CONCURRENCY = 10;

/** Adds the cache indexes that the MachinePool controller reads; call it before the cache starts. */
export function addMachinePoolIndexes(cache: Cache): void {
  cache.addIndex(MachinePool, BY_REFERENCE, ({ metadata, spec }) =>
    [spec.template.spec.bootstrap.configRef, spec.template.spec.infrastructureRef]
      .filter((reference) => reference !== undefined)
      .map((reference) => referenceKey(metadata.namespace ?? "", reference)),
  );
}

/** Returns the controller of MachinePools, whose machines the infrastructure provider manages. */
export function machinePoolController(workload: WorkloadClusters, calls: WorkloadCalls): Controller {
  const deps = { workload, calls: calls.limited() };
  let cache: Cache | undefined;
  return controller("machine-pool")
    .for(MachinePool)
    .owns(Machine)
    .watches(Cluster, (cluster, from) => poolsOf(from, cluster.metadata.namespace ?? "", cluster.metadata.name ?? ""), {
      predicate: ignoreStatus,
    })
    .watches(CustomResourceDefinition, poolsThatRefer)
    .watchesRaw({
      start: (enqueue, signal) => {
        const unsubscribe = workload.subscribe((key) => {
          if (cache === undefined) return;
          for (const request of poolsOf(cache, key.namespace, key.name)) enqueue(request);
        });
        signal.addEventListener("abort", unsubscribe, { once: true });
      },
    })
    .concurrency(CONCURRENCY)
    .rank(1)
    .reconcile((request, context) => {
      cache = context.cache;
      return reconcileMachinePool(request, context, deps);
    });
}

function poolsOf(cache: Cache, namespace: string, cluster: string): Request[] {
  if (!cache.synced(MachinePool)) return [];
  return cache.byIndex(MachinePool, BY_CLUSTER, clusterKey(namespace, cluster)).flatMap(requestFor);
}

/** A CRD that appears can cure references that led nowhere. */
function poolsThatRefer(crd: CustomResourceDefinition, cache: Cache): Request[] {
  if (!cache.synced(MachinePool)) return [];
  const { group, names } = crd.spec;
  return cache
    .list(MachinePool)
    .filter(({ spec: { template } }) =>
      [template.spec.bootstrap.configRef, template.spec.infrastructureRef].some(
        (reference) => reference?.apiGroup === group && reference.kind === names.kind,
      ),
    )
    .flatMap(requestFor);
}
