import {
  addOwnerReference,
  deepEqual,
  isReason,
  type KubeObject,
  ownerReference,
  removeOwnerReference,
} from "@capstan/apimachinery";
import { type Cluster, type ClusterResourceSet, ClusterResourceSetBinding } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";

type Entry = NonNullable<ClusterResourceSetBinding["spec"]["bindings"]>[number];
/** Record of one Secret or ConfigMap that was applied. */
export type ResourceRecord = NonNullable<Entry["resources"]>[number];

/** Returns what a ClusterResourceSet has applied to a Cluster so far. */
export function recordsOf(binding: ClusterResourceSetBinding | undefined, set: ClusterResourceSet): ResourceRecord[] {
  return binding?.spec.bindings?.find((entry) => entry.clusterResourceSetName === set.metadata.name)?.resources ?? [];
}

/** Returns the ClusterResourceSetBinding of a Cluster from the cache. */
export function bindingOf(cluster: KubeObject, context: ReconcileContext): ClusterResourceSetBinding | undefined {
  const { namespace, name } = cluster.metadata;
  return context.cache.get(ClusterResourceSetBinding, { namespace, name: name ?? "" });
}

/**
 * Records what was applied. Several ClusterResourceSets share a binding, so the update is guarded by its resourceVersion; after a conflict
 * the reconcile is retried, which is safe because applying is idempotent.
 */
export async function writeRecords(
  set: ClusterResourceSet,
  cluster: Cluster,
  records: readonly ResourceRecord[],
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name } = cluster.metadata;
  const clusterResourceSetName = set.metadata.name ?? "";
  const binding = bindingOf(cluster, context);
  const entry: Entry = { clusterResourceSetName, resources: [...records] };
  if (binding === undefined) {
    const created = {
      apiVersion: ClusterResourceSetBinding.apiVersion,
      kind: ClusterResourceSetBinding.kind,
      metadata: { namespace, name, ownerReferences: [ownerReference(set)] },
      spec: { clusterName: name ?? "", bindings: [entry] },
    } as ClusterResourceSetBinding;
    await context.client.create(created);
    return;
  }
  const others = (binding.spec.bindings ?? []).filter(
    (other) => other.clusterResourceSetName !== clusterResourceSetName,
  );
  const bindings = [...others, entry].sort((a, b) => (a.clusterResourceSetName < b.clusterResourceSetName ? -1 : 1));
  const ownerReferences = addOwnerReference(binding.metadata.ownerReferences, ownerReference(set));
  if (deepEqual(bindings, binding.spec.bindings) && deepEqual(ownerReferences, binding.metadata.ownerReferences))
    return;
  await context.client.patch(binding, {
    metadata: { resourceVersion: binding.metadata.resourceVersion, ownerReferences },
    spec: { bindings },
  });
}

/** Removes the records of a ClusterResourceSet, and deletes the binding if no other records are left. */
export async function removeRecords(
  set: ClusterResourceSet,
  binding: ClusterResourceSetBinding,
  context: ReconcileContext,
): Promise<void> {
  const bindings = (binding.spec.bindings ?? []).filter((entry) => entry.clusterResourceSetName !== set.metadata.name);
  const { resourceVersion, uid } = binding.metadata;
  try {
    if (bindings.length === 0)
      await context.client.delete(binding, {
        preconditions: {
          uid,
          resourceVersion,
        },
      });
    else
      await context.client.patch(binding, {
        metadata: {
          resourceVersion,
          ownerReferences: removeOwnerReference(binding.metadata.ownerReferences, ownerReference(set)),
        },
        spec: { bindings },
      });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}
