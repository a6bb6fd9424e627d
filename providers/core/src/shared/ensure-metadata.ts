import { addOwnerReference, controllerOf, type KubeObject, ownerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, type Cluster } from "@capstan/capi";
import { type ReconcileContext, writeChanges } from "@capstan/runtime";

/**
 * Ensures the finalizer, the cluster label and, for objects without a controller, the Cluster as owner. Writes at most once, guarded by the
 * resourceVersion because lists are replaced.
 */
export async function ensureMetadata<T extends KubeObject>(
  context: ReconcileContext,
  object: T,
  finalizer: string,
  clusterName: string,
  cluster: Cluster | undefined,
  annotations: Readonly<Record<string, string>> = {},
): Promise<T> {
  const { metadata } = object;
  const finalizers = metadata.finalizers ?? [];
  const owned = controllerOf(object) !== undefined || cluster === undefined;
  return await writeChanges(context.client, object, {
    ...object,
    metadata: {
      ...metadata,
      finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer],
      labels: { ...metadata.labels, [CLUSTER_NAME_LABEL]: clusterName },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations: { ...metadata.annotations, ...annotations } }),
      ...(owned ? {} : { ownerReferences: [...addOwnerReference(metadata.ownerReferences, ownerReference(cluster))] }),
    },
  });
}
