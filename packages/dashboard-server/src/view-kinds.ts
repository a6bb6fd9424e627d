import type { Clock, KubeObject, Random } from "@capstan/apimachinery";
import { clusterNameOf } from "@capstan/capi";
import { type Cache, type KindRef, keyText, type Logger } from "@capstan/runtime";

/** What the views are made from. */
export interface ViewsOptions {
  readonly cache: Cache;
  /** Every kind that may be a part of a cluster, and the kinds of hosts. */
  readonly kinds: readonly KindRef[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Files objects under the cluster they belong to. */
export const CLUSTER_INDEX = "dashboard-cluster";
/** Files hosts under the machine that uses them. */
export const CLAIM_INDEX = "dashboard-claim";

/** `namespace/cluster` of an object, if it belongs to one. */
export function clusterKeyOf(object: KubeObject): string | undefined {
  const name = clusterNameOf(object);
  return name === undefined ? undefined : keyText(object.metadata.namespace, name);
}
