import type { KubeObject } from "@capstan/apimachinery";
import { isHostKind, objectId } from "@capstan/capi";
import type { Cache, Kind, KindRef } from "@capstan/runtime";
import { CLAIM_INDEX, CLUSTER_INDEX } from "./view-kinds.ts";

/** An object of a cluster, with its kind. */
export interface Member {
  readonly object: KubeObject;
  readonly kind: KindRef;
}

/** Returns the objects of a cluster (`namespace/name`) by `Kind/name`, including the hosts that its Machines have claimed. */
export function clusterMembers(cache: Cache, kinds: readonly KindRef[], key: string): Map<string, Member> {
  const members = new Map<string, Member>();
  const put = (object: KubeObject, kind: KindRef): void => {
    members.set(objectId(kind.kind, object.metadata.name ?? ""), { object, kind });
  };
  const readable = kinds.filter((kind) => cache.synced(kind));
  for (const kind of readable)
    if (!isHostKind(kind.kind)) for (const object of cache.byIndex(kind as Kind, CLUSTER_INDEX, key)) put(object, kind);
  const namespace = key.slice(0, key.indexOf("/"));
  const hosts = readable.filter((kind) => isHostKind(kind.kind));
  for (const kind of hosts)
    for (const id of Array.from(members.keys()))
      for (const host of cache.byIndex(kind as Kind, CLAIM_INDEX, `${namespace}/${id}`)) put(host, kind);
  return members;
}
