import type { KubeObject } from "@capstan/apimachinery";
import { assess, clusterTree, hostKinds, isTreeKind, objectsByCluster, stateText } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import type { TreeOptions } from "../tree/cluster-tree.ts";
import { groupedTypes } from "./resource-types.ts";

/**
 * Returns the state of every cluster in a namespace, or in all, as text by `namespace/name`. It lists each kind once, however many clusters
 * there are, and skips kinds that the user may not list.
 */
export async function readClusterStates(
  client: Client,
  namespace: string | undefined,
  { nowMs, providers }: TreeOptions,
): Promise<Map<string, string>> {
  const hosts = hostKinds(providers);
  const kinds = (await groupedTypes(client)).filter((type) => type.namespaced && isTreeKind(type, hosts));
  const lists = await Promise.all(
    kinds.map(async (kind): Promise<KubeObject[]> => {
      try {
        const { items } = await client.list(kind, namespace === undefined ? {} : { namespace });
        return items.map((item) => ({ ...item, kind: kind.kind }));
      } catch (error) {
        if (["NotFound", "Forbidden", "MethodNotAllowed"].includes((error as { reason?: string }).reason ?? ""))
          return [];
        throw error;
      }
    }),
  );
  const states = new Map<string, string>();
  for (const [key, parts] of objectsByCluster(lists.flat(), providers)) {
    const { root } = clusterTree(parts, { nowMs, providers });
    if (root === undefined) continue;
    states.set(key, stateText(assess(root, { nowMs, namespace: key.slice(0, key.indexOf("/")), providers }).state));
  }
  return states;
}
