import { Cluster, CustomResourceDefinition } from "@capstan/capi";
import { type Cache, type Controller, controller, type Request } from "@capstan/runtime";
import { BY_CHILD, childKey, reconcileMetaCluster } from "./cluster.ts";
import { MetaCluster } from "./kinds/meta-cluster.ts";

/** Adds the cache indexes that the controller reads; call it before the cache starts. */
export function addMetaIndexes(cache: Cache): void {
  cache.addIndex(MetaCluster, BY_CHILD, (meta) =>
    meta.spec.infrastructureRefs.map((reference) => childKey(meta.metadata.namespace ?? "", reference)),
  );
}

/** Returns the MetaCluster controller. */
export function metaControllers(): Controller[] {
  return [
    controller("meta-cluster")
      .for(MetaCluster)
      .watches(Cluster, metaClusterOf)
      .watches(CustomResourceDefinition, (crd, cache) =>
        cache.synced(MetaCluster)
          ? cache
              .list(MetaCluster)
              .filter((meta) =>
                meta.spec.infrastructureRefs.some(
                  (r) => r.apiGroup === crd.spec.group && r.kind === crd.spec.names.kind,
                ),
              )
              .map((meta) => ({ namespace: meta.metadata.namespace ?? "", name: meta.metadata.name ?? "" }))
          : [],
      )
      .concurrency(10)
      .reconcile(reconcileMetaCluster),
  ];
}

function metaClusterOf(cluster: Cluster): Request[] {
  const reference = cluster.spec?.infrastructureRef;
  if (reference?.kind !== MetaCluster.kind || reference.apiGroup !== MetaCluster.group) return [];
  return [{ namespace: cluster.metadata.namespace ?? "", name: reference.name }];
}
