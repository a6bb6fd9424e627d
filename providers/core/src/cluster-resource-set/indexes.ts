import { ClusterResourceSet } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";

/** ClusterResourceSets by the Secrets and ConfigMaps they name. */
export const BY_PAYLOAD = "payload";

/** The value of BY_PAYLOAD. */
export function payloadKey(namespace: string, kind: string, name: string): string {
  return `${namespace}/${kind}/${name}`;
}

/** Adds the indexes of this controller; before the cache starts. */
export function addClusterResourceSetIndexes(cache: Cache): void {
  cache.addIndex(ClusterResourceSet, BY_PAYLOAD, ({ metadata, spec }) =>
    spec.resources.map((resource) => payloadKey(metadata.namespace ?? "", resource.kind, resource.name)),
  );
}
