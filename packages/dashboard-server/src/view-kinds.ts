import type { Clock, KubeObject, Random } from "@capstan/apimachinery";
import { clusterNameOf } from "@capstan/capi";
import { type Cache, type KindRef, keyText, type Logger } from "@capstan/runtime";
import type { ShownProvider } from "./provider-name.ts";

/** What the views are computed from. */
export interface ViewsOptions {
  readonly cache: Cache;
  /** Every kind that may be a part of a cluster, and the kinds of hosts. */
  readonly kinds: readonly KindRef[];
  /** The providers that explain and mark the objects. */
  readonly providers: readonly ShownProvider[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Cache index of objects by the cluster that they belong to. */
export const CLUSTER_INDEX = "dashboard-cluster";
/** Cache index of hosts by the machine that claimed them. */
export const CLAIM_INDEX = "dashboard-claim";

/** Returns `namespace/cluster` of an object; undefined when it belongs to no cluster. */
export function clusterKeyOf(object: KubeObject): string | undefined {
  const name = clusterNameOf(object);
  return name === undefined ? undefined : keyText(object.metadata.namespace, name);
}
