import {
  GlobalInClusterIPPool,
  GlobalInClusterPrefixPool,
  InClusterIPPool,
  InClusterPrefixPool,
  type IPAddressClaim,
} from "@capstan/capi";
import { type Cache, type Kind, keyText } from "@capstan/runtime";

/** A pool of addresses; both scopes have one shape. */
type AddressPool = InClusterIPPool;
/** A pool of prefixes, each a network of its own; both scopes have one shape. */
type PrefixPool = InClusterPrefixPool;
/** A pool of any kind. */
export type Pool = AddressPool | PrefixPool;

/** The kinds of pools, by name. */
export const POOL_KINDS: ReadonlyMap<string, Kind<Pool>> = new Map(
  [InClusterIPPool, GlobalInClusterIPPool, InClusterPrefixPool, GlobalInClusterPrefixPool].map(
    (kind) => [kind.kind, kind as Kind<Pool>] as const,
  ),
);

/** Returns what pools of a kind allocate. */
export function unitOf(kind: string): "address" | "prefix" {
  return kind === InClusterPrefixPool.kind || kind === GlobalInClusterPrefixPool.kind ? "prefix" : "address";
}

/** Reports whether a pool allocates prefixes. */
export function isPrefixPool(pool: Pool): pool is PrefixPool {
  return unitOf(pool.kind) === "prefix";
}

/** Finalizer of a pool while addresses of it are in use. */
export const PROTECT_POOL_FINALIZER = "ipam.cluster.x-k8s.io/ProtectPool";
/** Finalizer of an address while its claim exists. */
export const PROTECT_ADDRESS_FINALIZER = "ipam.cluster.x-k8s.io/ProtectAddress";
/** Finalizer of a claim until its address is released. */
export const RELEASE_ADDRESS_FINALIZER = "ipam.cluster.x-k8s.io/ReleaseAddress";

/** Name of the index of IPAddresses and claims by their pool. */
export const BY_POOL = "pool";
/** Name of the index of IPAddresses by pool and address. */
export const BY_ADDRESS = "address";

/** Returns a key that is unique among pools of all kinds and scopes. */
export function poolKeyOf(pool: {
  kind: string;
  metadata: { namespace?: string | undefined; name?: string | undefined };
}): string {
  const namespace = POOL_KINDS.get(pool.kind)?.namespaced === true ? pool.metadata.namespace : undefined;
  return `${pool.kind}/${keyText(namespace, pool.metadata.name ?? "")}`;
}

/** Reports whether a reference names an in-cluster pool; pools of other providers are ignored. */
export function isOurs(reference: IPAddressClaim["spec"]["poolRef"]): boolean {
  return reference.apiGroup === InClusterIPPool.group && POOL_KINDS.has(reference.kind);
}

/** Returns the pool that a claim refers to. */
export function poolOfClaim(cache: Cache, claim: IPAddressClaim): Pool | undefined {
  const { kind: name, name: pool } = claim.spec.poolRef;
  const kind = POOL_KINDS.get(name);
  if (kind === undefined) return undefined;
  return cache.get(kind, kind.namespaced ? { namespace: claim.metadata.namespace, name: pool } : { name: pool });
}
