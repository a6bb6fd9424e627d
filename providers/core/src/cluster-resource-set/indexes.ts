import { ClusterResourceSet } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";

/** Name of the index of ClusterResourceSets by the Secrets and ConfigMaps that they reference. */
export const BY_PAYLOAD = "payload";

/** Returns a key of the BY_PAYLOAD index. */
export function payloadKey(namespace: string, kind: string, name: string): string {
  return `${namespace}/${kind}/${name}`;
}

/** Adds the cache indexes that the ClusterResourceSet controller reads; call it before the cache starts. */
export function addClusterResourceSetIndexes(cache: Cache): void {
  cache.addIndex(ClusterResourceSet, BY_PAYLOAD, ({ metadata, spec }) =>
    spec.resources.map((resource) => payloadKey(metadata.namespace ?? "", resource.kind, resource.name)),
  );
}
