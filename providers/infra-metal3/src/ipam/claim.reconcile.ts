import { isReason, ownerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, type Waiters } from "@capstan/capi";
import {
  done,
  ensureFinalizer,
  ensureStatusIfPresent,
  keyText,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
} from "@capstan/runtime";
import { Metal3IPAddress } from "../kinds/ip-address.ts";
import { CLAIM_FINALIZER, IPClaim } from "../kinds/ip-claim.ts";
import type { IPPool } from "../kinds/ip-pool.ts";
import { allocate, mayWork, poolOf } from "./allocate.ts";
import { holderName, type IpBook } from "./ip-book.ts";
import type { AddressFacts } from "./pool-ranges.ts";

/** Finalizer of an address; removed with its claim. */
export const ADDRESS_FINALIZER = "ipaddress.ipam.metal3.io";
/** Name of the index of addresses by their claim. */
export const BY_CLAIM = "claim";

/** Shared state of the claim controllers. */
export interface ClaimDeps {
  book: IpBook;
  waiters: Waiters;
}

/** Reconciles an IPClaim: allocates an address, or releases it. */
export async function reconcileIpClaim(request: Request, context: ReconcileContext, deps: ClaimDeps): Promise<Result> {
  const claim = context.cache.get(IPClaim, request);
  const key = holderName(request.namespace, request.name);
  if (claim === undefined) {
    for (const address of addressesOf(request, context))
      if (address.metadata.deletionTimestamp !== undefined) await free(address, context);
    deps.book.cancel(key);
    deps.waiters.gone(key);
    return done();
  }
  const pool = poolOf(context.cache, request.namespace, claim.spec.pool.name);
  const deleting = claim.metadata.deletionTimestamp !== undefined;
  if (!mayWork(context.cache, pool, claim, deleting)) return done();
  if (deleting) return await release(claim, context, deps);
  if (claim.status?.address !== undefined) return done();
  await give(claim, pool, context, deps);
  if (pool !== undefined && deps.book.counts(pool).free > 0n) deps.waiters.wake(poolKey(pool));
  return done();
}

async function give(
  claim: IPClaim,
  pool: IPPool | undefined,
  context: ReconcileContext,
  { book, waiters }: ClaimDeps,
): Promise<void> {
  const { namespace, name = "" } = claim.metadata;
  const holder = holderName(namespace, name);
  const [existing] = addressesOf({ namespace: namespace ?? "", name }, context);
  if (existing !== undefined) {
    await report(claim, { address: referenceTo(existing) }, context);
    return;
  }
  const found = allocate(pool, claim.spec.pool.name ?? "", claim, holder, { book, random: context.random });
  if ("problem" in found || pool === undefined) {
    if (pool !== undefined && "exhausted" in found && found.exhausted) waiters.wait(poolKey(pool), holder);
    await report(claim, { errorMessage: "problem" in found ? found.problem : "" }, context);
    return;
  }
  waiters.gone(holder);
  const held = await ensureFinalizer(context.client, claim, CLAIM_FINALIZER, context.signal);
  const address = await create(held, pool, found, context, book);
  await report(held, address, context);
}

type Report = { address: object } | { errorMessage: string };

async function create(
  claim: IPClaim,
  pool: IPPool,
  { address, facts }: { address: string; facts: AddressFacts },
  context: ReconcileContext,
  book: IpBook,
): Promise<Report> {
  const { namespace, name = "" } = claim.metadata;
  const cluster = claim.metadata.labels?.[CLUSTER_NAME_LABEL] ?? pool.spec.clusterName;
  const object: Metal3IPAddress = {
    apiVersion: Metal3IPAddress.apiVersion,
    kind: Metal3IPAddress.kind,
    metadata: {
      namespace,
      name: addressName(pool, address),
      finalizers: [ADDRESS_FINALIZER],
      ...(cluster === undefined ? {} : { labels: { [CLUSTER_NAME_LABEL]: cluster } }),
      ownerReferences: [ownerReference(claim, { controller: true }), ownerReference(pool)],
    },
    spec: {
      claim: { namespace: namespace ?? "", name },
      pool: { namespace: namespace ?? "", name: pool.metadata.name ?? "" },
      address,
      prefix: facts.prefix,
      gateway: facts.gateway,
      ...(facts.dnsServers.length === 0 ? {} : { dnsServers: [...facts.dnsServers] }),
    },
  };
  try {
    return { address: referenceTo(await context.client.create(object, {}, context.signal)) };
  } catch (error) {
    if (!isReason(error, "AlreadyExists")) {
      // A refusal is certain; anything else leaves open whether the object exists, so the reservation stays.
      if (isReason(error, "Invalid", "Forbidden", "BadRequest")) book.cancel(holderName(namespace, name));
      throw error;
    }
    const there = await context.client.get(Metal3IPAddress, { namespace, name: object.metadata.name ?? "" });
    if (there === undefined) throw error;
    if (there.spec.claim.name === name && there.spec.pool.name === pool.metadata.name)
      return { address: referenceTo(there) };
    return {
      errorMessage: `IPAddress ${there.metadata.name} already exists, for ${there.spec.claim.name} of IPPool ${there.spec.pool.name}: give the pools other ranges or another namePrefix`,
    };
  }
}

/** Addresses have names made of them, so that no two objects can ever have the same one. */
function addressName(pool: IPPool, address: string): string {
  return `${pool.spec.namePrefix}-${address.replaceAll(/[.:]/g, "-")}`.replace(/-$/, "-0");
}

function referenceTo({ metadata }: Metal3IPAddress): object {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

/** Others that hold the claim (the data that uses the address) let go first. */
async function release(claim: IPClaim, context: ReconcileContext, { book, waiters }: ClaimDeps): Promise<Result> {
  const { namespace = "", name = "", finalizers = [] } = claim.metadata;
  if (finalizers.some((finalizer) => finalizer !== CLAIM_FINALIZER && finalizer !== "foregroundDeletion"))
    return done();
  for (const address of addressesOf({ namespace, name }, context)) {
    if (address.metadata.deletionTimestamp === undefined) await context.client.delete(address, {}, context.signal);
    await free(context.cache.get(Metal3IPAddress, { namespace, name: address.metadata.name ?? "" }), context);
  }
  book.cancel(holderName(namespace, name));
  waiters.gone(holderName(namespace, name));
  await releaseFinalizer(context.client, claim, CLAIM_FINALIZER, context.signal);
  return done();
}

async function free(address: Metal3IPAddress | undefined, context: ReconcileContext): Promise<void> {
  if (address !== undefined) await releaseFinalizer(context.client, address, ADDRESS_FINALIZER, context.signal);
}

function addressesOf({ namespace, name }: Request, context: ReconcileContext): Metal3IPAddress[] {
  return context.cache.byIndex(Metal3IPAddress, BY_CLAIM, keyText(namespace, name));
}

/** Returns the key under which claims wait for a pool. */
export function poolKey({ metadata }: IPPool): string {
  return keyText(metadata.namespace, metadata.name ?? "");
}

async function report(claim: IPClaim, status: Report, context: ReconcileContext): Promise<void> {
  const { namespace, name = "" } = claim.metadata;
  const { apiVersion, kind } = IPClaim;
  const desired = { apiVersion, kind, metadata: { namespace, name }, status } as unknown as IPClaim;
  const live = context.cache.get(IPClaim, { namespace, name });
  if ("errorMessage" in status && status.errorMessage !== (live?.status?.errorMessage ?? ""))
    context.recorder.event(claim, "Warning", "AllocationFailed", "Allocate", status.errorMessage);
  await ensureStatusIfPresent(context, desired, live);
}
