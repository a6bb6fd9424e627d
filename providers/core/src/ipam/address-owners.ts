import { addOwnerReference, ownerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, type IPAddress, type IPAddressClaim } from "@capstan/capi";
import { type Pool, PROTECT_ADDRESS_FINALIZER } from "./pools.ts";

/** Returns the metadata of an address with its finalizer, cluster label, and its claim and pool as owners. */
export function ownedMetadata(
  metadata: IPAddress["metadata"],
  claim: IPAddressClaim,
  pool: Pool | undefined,
): IPAddress["metadata"] {
  const cluster = claim.spec.clusterName ?? claim.metadata.labels?.[CLUSTER_NAME_LABEL];
  const owners = [
    ownerReference(claim, { controller: true }),
    ...(pool === undefined ? [] : [{ ...ownerReference(pool, { block: true }), controller: false }]),
  ];
  return {
    ...metadata,
    finalizers: [...new Set([...(metadata.finalizers ?? []), PROTECT_ADDRESS_FINALIZER])],
    ...(cluster === undefined ? {} : { labels: { ...metadata.labels, [CLUSTER_NAME_LABEL]: cluster } }),
    ownerReferences: owners.reduce(
      (all, owner) => [...addOwnerReference(all, owner)],
      [...(metadata.ownerReferences ?? [])],
    ),
  };
}
