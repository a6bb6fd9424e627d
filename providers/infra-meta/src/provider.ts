import { Cluster, CustomResourceDefinition, type Provider } from "@capstan/capi";
import { type Cache, type Controller, controller, type Request } from "@capstan/runtime";
import { MetaCluster } from "./kinds/meta-cluster.ts";
import { BY_CHILD, childKey, reconcileMetaCluster } from "./meta-cluster.ts";

/** The meta infrastructure provider: combines infrastructure clusters of several providers under one Cluster. */
export const meta: Provider<unknown> = {
  name: "meta",
  title: "Several providers",
  kinds: [MetaCluster],
  load: () => ({ addIndexes: addMetaIndexes, controllers: metaControllers }),
};

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
