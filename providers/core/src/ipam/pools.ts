import { GlobalInClusterIPPool, InClusterIPPool, type IPAddressClaim } from "@capstan/capi";
import { type Cache, keyText } from "@capstan/runtime";

/** A pool of either scope: both kinds have one shape. */
export type Pool = InClusterIPPool;

/** Kept on a pool while addresses of it are in use. */
export const PROTECT_POOL_FINALIZER = "ipam.cluster.x-k8s.io/ProtectPool";
/** Kept on an address while its claim exists. */
export const PROTECT_ADDRESS_FINALIZER = "ipam.cluster.x-k8s.io/ProtectAddress";
/** Kept on a claim until its address is released. */
export const RELEASE_ADDRESS_FINALIZER = "ipam.cluster.x-k8s.io/ReleaseAddress";

/** Indexes: IPAddresses by pool and text, claims by pool and by cluster. */
export const BY_POOL = "pool";
export const BY_ADDRESS = "address";

/** One name per pool, whatever its scope. */
export function poolKeyOf(pool: {
  kind: string;
  metadata: { namespace?: string | undefined; name?: string | undefined };
}): string {
  const namespace = pool.kind === InClusterIPPool.kind ? pool.metadata.namespace : undefined;
  return `${pool.kind}/${keyText(namespace, pool.metadata.name ?? "")}`;
}

/** Whether a claim is ours: other providers have pools of their own. */
export function isOurs(reference: IPAddressClaim["spec"]["poolRef"]): boolean {
  return (
    reference.apiGroup === InClusterIPPool.group &&
    (reference.kind === InClusterIPPool.kind || reference.kind === GlobalInClusterIPPool.kind)
  );
}

/** The pool a claim asks. */
export function poolOfClaim(cache: Cache, claim: IPAddressClaim): Pool | undefined {
  const { kind, name } = claim.spec.poolRef;
  return kind === InClusterIPPool.kind
    ? cache.get(InClusterIPPool, { namespace: claim.metadata.namespace, name })
    : cache.get(GlobalInClusterIPPool, { name });
}
