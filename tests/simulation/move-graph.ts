import type { Unstructured } from "@capstan/apimachinery";
import { CustomResourceDefinition } from "@capstan/capi";
import type { Plane } from "./plane.ts";

const MOVE = "clusterctl.cluster.x-k8s.io/move";
const MOVE_HIERARCHY = "clusterctl.cluster.x-k8s.io/move-hierarchy";
/** Owners by name: clusterctl takes Secrets of a Cluster so. */
const CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name";

/**
 * Objects that `clusterctl move` would leave behind: those that neither lead to a Cluster (or an object moved for its own sake) through
 * their owners, nor are of a kind that is labelled to be moved, nor are Secrets named after a Cluster.
 */
export async function unreachable({ client, server }: Plane): Promise<string[]> {
  const { items: crds } = await client.list(CustomResourceDefinition);
  const objects: Unstructured[] = [];
  const roots = new Set<string>();
  for (const { metadata, spec } of crds) {
    const kind = { group: spec.group, plural: spec.names.plural };
    const moved = [MOVE, MOVE_HIERARCHY].some((label) => metadata.labels?.[label] !== undefined);
    for (const object of server.internal.list(kind, "default")) {
      objects.push(object);
      if (
        moved ||
        (spec.names.kind === "Cluster" && spec.group === "cluster.x-k8s.io") ||
        spec.names.kind === "ClusterClass"
      )
        roots.add(object.metadata.uid ?? "");
    }
  }
  const clusters = objects.filter(
    ({ kind, apiVersion }) => kind === "Cluster" && apiVersion.startsWith("cluster.x-k8s.io"),
  );
  for (const secret of server.internal.list({ group: "", plural: "secrets" }, "default")) {
    const named = clusters.some(({ metadata }) => secret.metadata.name?.startsWith(`${metadata.name}-`));
    if (secret.metadata.labels?.[CLUSTER_LABEL] === undefined) continue;
    objects.push(secret);
    if (named) roots.add(secret.metadata.uid ?? "");
  }
  for (let before = -1; before !== roots.size; ) {
    before = roots.size;
    for (const { metadata } of objects)
      if (metadata.ownerReferences?.some(({ uid }) => roots.has(uid)) === true) roots.add(metadata.uid ?? "");
  }
  return objects
    .filter(({ metadata }) => !roots.has(metadata.uid ?? ""))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}
