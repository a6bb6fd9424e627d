import { isReason, ownerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, contains, IPAddress, IPAddressClaim, parseAddress } from "@capstan/capi";
import { keyText, type ReconcileContext, releaseFinalizer } from "@capstan/runtime";
import { poolRanges } from "../ipam/pool-ranges.ts";
import { Metal3IPAddress } from "../kinds/ip-address.ts";
import { CLAIM_FINALIZER, IPClaim } from "../kinds/ip-claim.ts";
import { IPPool } from "../kinds/ip-pool.ts";
import type { Metal3Data } from "../kinds/metal3-data.ts";
import { DATA_FINALIZER } from "./names.ts";
import { isMetal3Pool, type PoolReference } from "./pool-references.ts";
import type { PoolAddress } from "./render-input.ts";

/** Name of the index of address claims by the Metal3Data that created them. */
export const BY_DATA = "metal3-data";

/** Result of claiming an address from a pool: the address, an error, or what it is waiting for. */
export type ClaimedAddress = { address: PoolAddress } | { problem: string } | { pending: string };

/** Ensures that a Metal3Data has a claim for an address of a pool, and returns the claim's result. */
export async function claimAddress(
  data: Metal3Data,
  pool: PoolReference,
  context: ReconcileContext,
): Promise<ClaimedAddress> {
  return isMetal3Pool(pool) ? await fromIpPool(data, pool, context) : await fromAnyPool(data, pool, context);
}

/** Returns the address claims of a Metal3Data. */
export function claimsOf(data: Metal3Data, { cache }: ReconcileContext): (IPClaim | IPAddressClaim)[] {
  const key = keyText(data.metadata.namespace, data.metadata.name ?? "");
  return [...cache.byIndex(IPClaim, BY_DATA, key), ...cache.byIndex(IPAddressClaim, BY_DATA, key)];
}

/** Deletes all address claims of a Metal3Data. */
export async function releaseAddresses(data: Metal3Data, context: ReconcileContext): Promise<void> {
  for (const claim of claimsOf(data, context)) {
    if (claim.metadata.deletionTimestamp === undefined)
      await context.client.delete(claim as IPClaim, {}, context.signal);
    const { namespace, name = "" } = claim.metadata;
    const kind = (claim.kind === IPClaim.kind ? IPClaim : IPAddressClaim) as typeof IPClaim;
    const left = context.cache.get(kind, { namespace, name });
    if (left !== undefined) await releaseFinalizer(context.client, left, DATA_FINALIZER, context.signal);
  }
}

/** Returns the index keys (BY_DATA) of an address claim. */
export function dataOf({ metadata }: IPClaim | IPAddressClaim): string[] {
  const owner = metadata.ownerReferences?.find(({ kind, controller }) => kind === "Metal3Data" && controller === true);
  return owner === undefined ? [] : [keyText(metadata.namespace, owner.name)];
}

async function fromIpPool(data: Metal3Data, pool: PoolReference, context: ReconcileContext): Promise<ClaimedAddress> {
  const { namespace = "" } = data.metadata;
  const claim = context.cache.get(IPClaim, { namespace, name: claimName(data, pool) });
  if (claim === undefined) {
    const { apiVersion, kind } = IPClaim;
    const metadata = claimMetadata(data, pool, [DATA_FINALIZER, CLAIM_FINALIZER]);
    await create({ apiVersion, kind, metadata, spec: { pool: { namespace, name: pool.name } } }, context);
    return pending(pool);
  }
  const stale = whyStale(claim, data);
  if (stale !== undefined) return { pending: stale };
  const { address: reference, errorMessage } = claim.status ?? {};
  if (reference?.name === undefined)
    return errorMessage === undefined || errorMessage === "" ? pending(pool) : { problem: errorMessage };
  const object = context.cache.get(Metal3IPAddress, { namespace, name: reference.name });
  if (object === undefined) return pending(pool);
  const { address, prefix, gateway, dnsServers = [] } = object.spec;
  return { address: { address, prefix, gateway, dnsServers } };
}

async function fromAnyPool(data: Metal3Data, pool: PoolReference, context: ReconcileContext): Promise<ClaimedAddress> {
  const { namespace = "" } = data.metadata;
  const claim = context.cache.get(IPAddressClaim, { namespace, name: claimName(data, pool) });
  if (claim === undefined) {
    const { apiVersion, kind } = IPAddressClaim;
    const cluster = data.metadata.labels?.[CLUSTER_NAME_LABEL];
    const spec = { poolRef: { ...pool }, clusterName: cluster };
    await create({ apiVersion, kind, metadata: claimMetadata(data, pool, [DATA_FINALIZER]), spec }, context);
    return pending(pool);
  }
  const stale = whyStale(claim, data);
  if (stale !== undefined) return { pending: stale };
  const name = claim.status?.addressRef?.name;
  const object = name === undefined ? undefined : context.cache.get(IPAddress, { namespace, name });
  if (object === undefined) {
    const ready = claim.status?.conditions?.find(({ type }) => type === "Ready");
    return ready?.status === "False" && ready.message !== "" ? { problem: ready.message } : pending(pool);
  }
  const { address, prefix, gateway } = object.spec;
  return { address: { address, prefix, gateway, dnsServers: dnsServersOf(address, pool, namespace, context) } };
}

/** Cluster API knows no DNS servers; an IPPool of the same name may have them. */
function dnsServersOf(
  address: string,
  pool: PoolReference,
  namespace: string,
  { cache }: ReconcileContext,
): readonly string[] {
  const known = cache.get(IPPool, { namespace, name: pool.name });
  const ranges = known === undefined ? undefined : poolRanges(known.spec);
  const value = parseAddress(address)?.value;
  if (
    ranges === undefined ||
    "problem" in ranges ||
    value === undefined ||
    !ranges.ranges.some((r) => contains([r], value))
  )
    return [];
  return ranges.factsOf(address)?.dnsServers ?? [];
}

function claimName(data: Metal3Data, pool: PoolReference): string {
  return `${data.metadata.name}-${pool.name}`;
}

function claimMetadata(data: Metal3Data, pool: PoolReference, finalizers: string[]) {
  const { namespace = "", labels = {} } = data.metadata;
  const ownerReferences = [ownerReference(data, { controller: true })];
  return { namespace, name: claimName(data, pool), labels: { ...labels }, finalizers, ownerReferences };
}

/** A claim that is left over from data of the same name gives the address back first. */
function whyStale(claim: IPClaim | IPAddressClaim, data: Metal3Data): string | undefined {
  const own = claim.metadata.ownerReferences?.some(({ uid }) => uid === data.metadata.uid) ?? false;
  if (own && claim.metadata.deletionTimestamp === undefined) return undefined;
  return `${claim.kind} ${claim.metadata.name} is left from earlier data; waiting for its deletion`;
}

async function create(claim: object, context: ReconcileContext): Promise<void> {
  try {
    await context.client.create(claim as IPClaim, {}, context.signal);
  } catch (error) {
    // The cache shows it soon.
    if (!isReason(error, "AlreadyExists")) throw error;
  }
}

const pending = (pool: PoolReference): ClaimedAddress => ({
  pending: `waiting for an address of ${pool.kind} ${pool.name}`,
});
