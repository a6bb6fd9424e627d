import { Cluster, ClusterClass, type ContractObject, namedTarget } from "@capstan/capi";
import { type Cache, type Request, requestFor } from "@capstan/runtime";

/** Name of the index of Clusters by their ClusterClass. */
export const BY_CLASS = "class";
/** Classes by the templates they name. */
const BY_TEMPLATE = "template";

/** Returns a key of the BY_CLASS index. */
export function classKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Adds the cache indexes that the topology controllers read; call it before the cache starts. */
export function addTopologyIndexes(cache: Cache): void {
  // Also by a class that does not grant its use: the Cluster is reconciled again when that changes.
  cache.addIndex(Cluster, BY_CLASS, (cluster) => {
    const reference = cluster.spec?.topology?.classRef;
    if (reference === undefined) return [];
    const { namespace, name } = namedTarget(cluster, reference);
    return [classKey(namespace, name)];
  });
  cache.addIndex(ClusterClass, BY_TEMPLATE, (one) =>
    templateReferences(one).map(({ kind, name }) => `${one.metadata.namespace ?? ""}/${kind}/${name}`),
  );
}

/** Returns all templates that a ClusterClass references. */
export function templateReferences({ spec }: ClusterClass): { apiVersion: string; kind: string; name: string }[] {
  const workers = [...(spec.workers?.machineDeployments ?? []), ...(spec.workers?.machinePools ?? [])];
  const machine = spec.controlPlane.machineInfrastructure?.templateRef;
  return [
    spec.infrastructure.templateRef,
    spec.controlPlane.templateRef,
    ...(machine === undefined ? [] : [machine]),
    ...workers.flatMap((worker) => [worker.bootstrap.templateRef, worker.infrastructure.templateRef]),
  ];
}

/** Returns the ClusterClasses that reference a template. */
export function classesOfTemplate(object: ContractObject, cache: Cache): ClusterClass[] {
  if (!cache.synced(ClusterClass)) return [];
  const { namespace = "", name = "" } = object.metadata;
  return cache.byIndex(ClusterClass, BY_TEMPLATE, `${namespace}/${object.kind}/${name}`);
}

/** Returns the Clusters that use a ClusterClass. */
export function clustersOfClass(one: ClusterClass, cache: Cache): Request[] {
  if (!cache.synced(Cluster)) return [];
  const key = classKey(one.metadata.namespace ?? "", one.metadata.name ?? "");
  return cache.byIndex(Cluster, BY_CLASS, key).flatMap(requestFor);
}

/** Returns the Clusters that depend on a template: through their class, or because it was created for them. */
export function clustersOfTemplate(object: ContractObject, cache: Cache): Request[] {
  const own = object.metadata.labels?.["cluster.x-k8s.io/cluster-name"];
  return [
    ...(own === undefined ? [] : [{ namespace: object.metadata.namespace ?? "", name: own }]),
    ...classesOfTemplate(object, cache).flatMap((one) => clustersOfClass(one, cache)),
  ];
}
