import type { Transport } from "@capstan/apimachinery";
import { Cluster } from "@capstan/capi";
import { mayDo } from "./access.ts";
import type { ClusterAccess, Reach } from "./protocol.ts";

/** How many namespaces are checked; with more, the API decides when a user tries. */
const MAX_NAMESPACES = 200;
const AT_ONCE = 20;

/** Determines where a user may see and create clusters. `namespaces` lists the existing ones regardless of the user's permissions. */
export async function clusterAccess(
  transport: Transport,
  namespaces: () => Promise<readonly string[]>,
): Promise<ClusterAccess> {
  const asked = { group: Cluster.group, resource: Cluster.plural };
  let names: readonly string[] | undefined;
  const reachOf = async (verb: string): Promise<Reach> => {
    if (await mayDo(transport, verb, { ...asked, namespace: "" })) return "everywhere";
    names ??= await namespaces();
    if (names.length > MAX_NAMESPACES) return "somewhere";
    for (let i = 0; i < names.length; i += AT_ONCE) {
      const batch = names.slice(i, i + AT_ONCE).map((namespace) => mayDo(transport, verb, { ...asked, namespace }));
      if ((await Promise.all(batch)).includes(true)) return "somewhere";
    }
    return "nowhere";
  };
  return { see: await reachOf("list"), create: await reachOf("create") };
}
