import { selectorOrProblem } from "@capstan/apimachinery";
import {
  Cluster,
  ClusterResourceSet,
  ClusterResourceSetBinding,
  ConfigMap,
  type WorkloadCalls,
  type WorkloadClusters,
} from "@capstan/capi";
import { type Cache, type Controller, controller, type Predicate, type Request, requestFor } from "@capstan/runtime";
import { reconcileClusterResourceSet, usersOf } from "./cluster-resource-set.reconcile.ts";
import { PayloadSecrets } from "./payload-secrets.ts";

const CONCURRENCY = 10;

/** Returns the controller that applies manifests to Clusters selected by label. */
export function clusterResourceSetController(workload: WorkloadClusters, calls: WorkloadCalls): Controller {
  const deps = { workload, calls: calls.limited(), secrets: new PayloadSecrets() };
  let cache: Cache | undefined;
  return controller("cluster-resource-set")
    .for(ClusterResourceSet)
    .watches(Cluster, setsForCluster, { predicate: becomesServable })
    .watches(ConfigMap, (object, from) => usersOf("ConfigMap", object, { cache: from }))
    .watches(ClusterResourceSetBinding, setsOfBinding)
    .watchesRaw({
      start: (enqueue, signal) => {
        deps.secrets.onChange(enqueue);
        const unsubscribe = workload.subscribe((key, node) => {
          // Only the connection matters here, not changes of Nodes.
          if (cache === undefined || node !== undefined) return;
          const cluster = cache.get(Cluster, key);
          if (cluster !== undefined) for (const request of setsForCluster(cluster, cache)) enqueue(request);
        });
        signal.addEventListener("abort", unsubscribe, { once: true });
      },
    })
    .concurrency(CONCURRENCY)
    .reconcile((request, context) => {
      cache = context.cache;
      return reconcileClusterResourceSet(request, context, deps);
    });
}

/** Of all that changes on a Cluster only this matters: whether it is meant and whether it can be served. */
const becomesServable: Predicate<Cluster> = {
  update: (cluster, old) => servable(cluster) !== servable(old),
};

function servable(cluster: Cluster): string {
  const { labels, deletionTimestamp } = cluster.metadata;
  const flags = [cluster.status?.initialization?.controlPlaneInitialized, cluster.spec?.paused, deletionTimestamp];
  return JSON.stringify([labels, flags]);
}

function setsForCluster(cluster: Cluster, cache: Cache): Request[] {
  if (!cache.synced(ClusterResourceSet)) return [];
  return cache
    .list(ClusterResourceSet, { namespace: cluster.metadata.namespace })
    .filter((set) =>
      selectorOrProblem(set.spec.clusterSelector, "spec.clusterSelector").matches(cluster.metadata.labels),
    )
    .flatMap(requestFor);
}

/** A user who deletes a binding, or an entry of it, requests that everything is applied again. */
function setsOfBinding(binding: ClusterResourceSetBinding): Request[] {
  return (binding.spec.bindings ?? []).map((entry) => ({
    namespace: binding.metadata.namespace ?? "",
    name: entry.clusterResourceSetName,
  }));
}
