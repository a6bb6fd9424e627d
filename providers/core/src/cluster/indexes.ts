import { Cluster, Machine, MachineDeployment, MachinePool, MachineSet, referenceKey, WorkerPool } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";

/** Name of the index of Clusters by the infrastructure and control plane objects that they reference. */
export const BY_REFERENCE = "reference";
/** Name of the index of objects by the Cluster that they belong to. */
export const BY_CLUSTER = "cluster";
/** Name of the index of Clusters by the name of their infrastructure object, whatever its kind. */
export const BY_INFRASTRUCTURE_NAME = "infrastructure-name";

/** Returns the key of a Cluster, `NAMESPACE/NAME`, in the BY_CLUSTER index. */
export function clusterKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Adds the cache indexes that the Cluster controller reads; call it before the cache starts. */
export function addClusterIndexes(cache: Cache): void {
  cache.addIndex(Cluster, BY_REFERENCE, (cluster) =>
    [cluster.spec?.infrastructureRef, cluster.spec?.controlPlaneRef]
      .filter((reference) => reference !== undefined)
      .map((reference) => referenceKey(cluster.metadata.namespace ?? "", reference)),
  );
  cache.addIndex(Cluster, BY_INFRASTRUCTURE_NAME, ({ metadata, spec }) =>
    spec?.infrastructureRef === undefined ? [] : [clusterKey(metadata.namespace ?? "", spec.infrastructureRef.name)],
  );
  const byCluster = (object: { metadata: { namespace?: string }; spec: { clusterName: string } }): string[] => [
    clusterKey(object.metadata.namespace ?? "", object.spec.clusterName),
  ];
  cache.addIndex(Machine, BY_CLUSTER, byCluster);
  cache.addIndex(MachineSet, BY_CLUSTER, byCluster);
  cache.addIndex(MachineDeployment, BY_CLUSTER, byCluster);
  cache.addIndex(MachinePool, BY_CLUSTER, byCluster);
  cache.addIndex(WorkerPool, BY_CLUSTER, byCluster);
}
