import type { KubeObject, Random } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, Cluster, pausedCondition } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";
import { REQUESTED_ADDRESS_ANNOTATION } from "../kinds/ip-claim.ts";
import { IPPool } from "../kinds/ip-pool.ts";
import { holderName, type IpBook } from "./ip-book.ts";
import type { AddressFacts } from "./pool-ranges.ts";

/** An address for a claim, or why there is none. */
export type Allocation = { address: string; facts: AddressFacts } | { problem: string; exhausted: boolean };

/** Reserves an address for a claim: the pre-allocated one, the requested one, or a free one by the pool's strategy. */
export function allocate(
  pool: IPPool | undefined,
  poolName: string,
  claim: KubeObject,
  holder: string,
  { book, random }: { book: IpBook; random: Random },
): Allocation {
  const no = (problem: string, exhausted = false): Allocation => ({ problem, exhausted });
  if (pool === undefined) return no(`IPPool ${poolName} does not exist; create it`);
  if (pool.metadata.deletionTimestamp !== undefined) return no(`IPPool ${poolName} is being deleted`);
  const addresses = book.addresses(pool);
  if ("problem" in addresses) return no(`IPPool ${poolName}: ${addresses.problem}`);
  const { namespace, name = "", annotations } = claim.metadata;
  const kept = pool.spec.preAllocations?.[name];
  const wanted = kept ?? annotations?.[REQUESTED_ADDRESS_ANNOTATION];
  if (wanted !== undefined && addresses.factsOf(wanted) === undefined)
    return no(
      `IPPool ${poolName} does not have ${wanted}, which ${kept === undefined ? "the claim requests" : "is pre-allocated"}`,
    );
  const wish =
    wanted !== undefined
      ? { address: wanted, keptFor: holderName(namespace, name) }
      : pool.spec.allocationStrategy === "random"
        ? { random }
        : {};
  const address = book.reserve(pool, holder, wish);
  const facts = address === undefined ? undefined : addresses.factsOf(address);
  if (address !== undefined && facts !== undefined) return { address, facts };
  return wanted === undefined
    ? no(`Exhausted IP Pools: IPPool ${poolName} has no free address left; add addresses or delete claims`, true)
    : no(`${wanted} of IPPool ${poolName} is in use by another claim`, true);
}

/** Reports whether a claim may be reconciled: the pool's Cluster, if it names one, must exist, and nothing is paused. */
export function mayWork(cache: Cache, pool: IPPool | undefined, claim: KubeObject, deleting: boolean): boolean {
  const name = pool?.spec.clusterName ?? claim.metadata.labels?.[CLUSTER_NAME_LABEL];
  const cluster = name === undefined ? undefined : cache.get(Cluster, { namespace: claim.metadata.namespace, name });
  if (pool?.spec.clusterName !== undefined && cluster === undefined && !deleting) return false;
  return pausedCondition(claim, cluster).status !== "True";
}

/** Returns the IPPool of that name from the cache. */
export function poolOf(cache: Cache, namespace: string | undefined, name: string | undefined): IPPool | undefined {
  return name === undefined ? undefined : cache.get(IPPool, { namespace, name });
}
