import type { KubeObject } from "@capstan/apimachinery";
import { assess, clusterTree, isTreeKind, objectsByCluster, stateText } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { groupedTypes } from "./resource-types.ts";

/**
 * The states of all clusters of a namespace, or of all namespaces, as text by `namespace/name`: one list request per kind, however many
 * clusters there are. Kinds that the user may not list are left out.
 */
export async function readClusterStates(
  client: Client,
  namespace: string | undefined,
  nowMs: number,
): Promise<Map<string, string>> {
  const kinds = (await groupedTypes(client)).filter((type) => type.namespaced && isTreeKind(type));
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
  for (const [key, parts] of objectsByCluster(lists.flat())) {
    const { root } = clusterTree(parts, nowMs);
    if (root === undefined) continue;
    states.set(key, stateText(assess(root, { nowMs, namespace: key.slice(0, key.indexOf("/")) }).state));
  }
  return states;
}
