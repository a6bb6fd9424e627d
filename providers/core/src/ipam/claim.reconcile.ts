import { ApiError, isReason } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ConditionInput,
  conditionsOf,
  IPAddress,
  IPAddressClaim,
  pausedCondition,
  type Waiters,
  withTransitionTimes,
} from "@capstan/capi";
import {
  done,
  ensureFinalizer,
  ensureStatusIfPresent,
  keyText,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requeueAfter,
  writeChanges,
} from "@capstan/runtime";
import { ownedMetadata } from "./address-owners.ts";
import type { PoolBook } from "./pool-book.ts";
import {
  BY_ADDRESS,
  isOurs,
  isPrefixPool,
  type Pool,
  PROTECT_ADDRESS_FINALIZER,
  poolKeyOf,
  poolOfClaim,
  RELEASE_ADDRESS_FINALIZER,
  unitOf,
} from "./pools.ts";

/** State that the claim controller keeps between reconciles. */
export interface ClaimDeps {
  book: PoolBook;
  waiters: Waiters;
}

/** Reconciles an IPAddressClaim: allocates an address, or releases it. */
export async function reconcileClaim(request: Request, context: ReconcileContext, deps: ClaimDeps): Promise<Result> {
  const claim = context.cache.get(IPAddressClaim, request);
  const key = keyText(request.namespace, request.name);
  if (claim === undefined) {
    await releaseOrphan(request, context);
    deps.book.cancel(key);
    deps.waiters.gone(key);
    return done();
  }
  if (!isOurs(claim.spec.poolRef)) return done();
  const deleting = claim.metadata.deletionTimestamp !== undefined;
  if (!mayWork(claim, deleting, context) || isPaused(poolOfClaim(context.cache, claim))) return done();
  if (deleting) return await release(claim, context, deps);
  const finalized = await ensureFinalizer(context.client, claim, RELEASE_ADDRESS_FINALIZER);
  const outcome = await allocate(finalized, context, deps);
  await writeStatus(finalized, outcome, context);
  const pool = poolOfClaim(context.cache, claim);
  // More than one address may have become free.
  if (pool !== undefined && deps.book.counts(pool).free > 0n) deps.waiters.wake(poolKeyOf(pool));
  return done();
}

/** A claim of a Cluster waits until that exists and is not paused; deletion does not need the Cluster. */
function mayWork(claim: IPAddressClaim, deleting: boolean, context: ReconcileContext): boolean {
  const name = claim.spec.clusterName ?? claim.metadata.labels?.[CLUSTER_NAME_LABEL];
  const cluster =
    name === undefined ? undefined : context.cache.get(Cluster, { namespace: claim.metadata.namespace, name });
  if (name !== undefined && cluster === undefined && !deleting) return false;
  return pausedCondition(claim, cluster).status !== "True";
}

/** A paused pool, as during a move or restore, neither allocates nor releases addresses. */
function isPaused(pool: Pool | undefined): boolean {
  return pool !== undefined && pausedCondition(pool, undefined).status === "True";
}

interface Outcome {
  address?: string;
  condition: ConditionInput;
}

function notReady(reason: string, message: string): Outcome {
  return { condition: { type: "Ready", status: "False", reason, message } };
}

async function allocate(
  claim: IPAddressClaim,
  context: ReconcileContext,
  { book, waiters }: ClaimDeps,
): Promise<Outcome> {
  const { namespace, name = "" } = claim.metadata;
  const key = keyText(namespace, name);
  const existing = context.cache.get(IPAddress, { namespace, name });
  const pool = poolOfClaim(context.cache, claim);
  if (existing !== undefined) return await adopt(claim, existing, pool, context);
  const { kind, name: poolName } = claim.spec.poolRef;
  if (pool === undefined) return notReady("PoolNotReady", `${kind} ${poolName} does not exist; create it`);
  if (pool.metadata.deletionTimestamp !== undefined)
    return notReady("PoolNotReady", `${kind} ${poolName} is being deleted`);
  const addresses = book.addresses(pool);
  if ("problem" in addresses) return notReady("PoolNotReady", `${kind} ${poolName}: ${addresses.problem}`);
  const reserved = book.reserve(pool, key);
  if (reserved === undefined) {
    waiters.wait(poolKeyOf(pool), key);
    return notReady(
      "PoolExhausted",
      `${kind} ${poolName} has no free ${unitOf(kind)} left; add ${unitOf(kind)}es to it, or delete claims that are no longer needed`,
    );
  }
  waiters.gone(key);
  const { prefix, gateway } = addresses;
  // A prefix is its first address; the length is a separate field.
  const [address = ""] = reserved.split("/");
  return await create(claim, pool, { address, prefix, gateway }, context, book);
}

async function create(
  claim: IPAddressClaim,
  pool: Pool,
  spec: { address: string; prefix: number; gateway?: string },
  context: ReconcileContext,
  book: PoolBook,
): Promise<Outcome> {
  const { namespace, name = "" } = claim.metadata;
  const object: IPAddress = {
    apiVersion: IPAddress.apiVersion,
    kind: IPAddress.kind,
    metadata: ownedMetadata({ namespace, name }, claim, pool),
    spec: { claimRef: { name }, poolRef: { ...claim.spec.poolRef }, ...spec },
  };
  try {
    const created = await context.client.create(object);
    return await adopt(claim, created, pool, context);
  } catch (error) {
    // A refusal is certain; anything else leaves open whether the object exists, so the reservation stays.
    if (error instanceof ApiError && error.status.code !== undefined && error.status.code < 500) {
      book.cancel(keyText(namespace, name));
      const { message } = error;
      if (!isReason(error, "AlreadyExists", "Conflict"))
        return notReady("AllocationFailed", `IPAddress ${name} cannot be created: ${message}`);
    }
    throw error;
  }
}

/** An existing address belongs to the claim if it was created for it and no other object has the same address. */
async function adopt(
  claim: IPAddressClaim,
  object: IPAddress,
  pool: Pool | undefined,
  context: ReconcileContext,
): Promise<Outcome> {
  const { name = "" } = claim.metadata;
  if (object.spec.claimRef.name !== name || !samePool(object, claim))
    return notReady(
      "AllocationFailed",
      `IPAddress ${name} already exists and belongs to another pool or claim; delete it`,
    );
  if (object.metadata.deletionTimestamp !== undefined) {
    // The address may still be in use: it stays allocated to the claim until that is deleted too.
    const message = `IPAddress ${name} was deleted, but its address stays allocated while this claim exists; delete the claim to release it`;
    return { address: name, condition: { type: "Ready", status: "True", reason: "Ready", message } };
  }
  if (claim.status?.addressRef === undefined && hasTwin(object, context)) {
    // Two managers ran at the same time and the address went to another claim first. This one was not published yet.
    await releaseFinalizer(context.client, object, PROTECT_ADDRESS_FINALIZER);
    await context.client.delete(object);
    throw new Error(`address ${object.spec.address} was allocated twice; choosing another one`);
  }
  // An object that was restored from a backup, or moved, has lost its owners.
  await writeChanges(context.client, object, { ...object, metadata: ownedMetadata(object.metadata, claim, pool) });
  return { address: name, condition: { type: "Ready", status: "True", reason: "Ready", message: "" } };
}

function samePool(object: IPAddress, claim: IPAddressClaim): boolean {
  const [a, b] = [object.spec.poolRef, claim.spec.poolRef];
  return a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;
}

/** Whether an older object has the same address. */
function hasTwin(object: IPAddress, context: ReconcileContext): boolean {
  const age = ({ metadata }: IPAddress): string => `${metadata.creationTimestamp}/${metadata.uid}`;
  return context.cache
    .byIndex(IPAddress, BY_ADDRESS, addressKey(object))
    .some((other) => other.metadata.uid !== object.metadata.uid && age(other) < age(object));
}

/** Returns the key of an IPAddress in the BY_ADDRESS index. */
export function addressKey(object: IPAddress): string {
  const { kind, name } = object.spec.poolRef;
  const pool = poolKeyOf({ kind, metadata: { namespace: object.metadata.namespace, name } });
  return `${pool}/${object.spec.address}`;
}

/** Takes the address back, after the pool's grace period if it has one. */
async function release(
  claim: IPAddressClaim,
  context: ReconcileContext,
  { book, waiters }: ClaimDeps,
): Promise<Result> {
  const { namespace, name = "", deletionTimestamp } = claim.metadata;
  const key = keyText(namespace, name);
  const address = context.cache.get(IPAddress, { namespace, name });
  if (address !== undefined && samePool(address, claim)) {
    const graceMs = graceMsOf(poolOfClaim(context.cache, claim));
    const leftMs = Date.parse(deletionTimestamp ?? "") + graceMs - context.clock.now();
    if (graceMs > 0 && leftMs > 0) return requeueAfter(leftMs);
    await context.client.delete(address);
    await free(context, { namespace, name });
  }
  book.cancel(key);
  waiters.gone(key);
  await releaseFinalizer(context.client, claim, RELEASE_ADDRESS_FINALIZER);
  return done();
}

/** How long a released address is held back; only pools of addresses have such a time, and not while they are deleted. */
function graceMsOf(pool: Pool | undefined): number {
  if (pool === undefined || isPrefixPool(pool) || pool.metadata.deletionTimestamp !== undefined) return 0;
  return (pool.spec.addressReuseGracePeriodSeconds ?? 0) * 1000;
}

async function free(context: ReconcileContext, key: { namespace: string | undefined; name: string }): Promise<void> {
  const address = context.cache.get(IPAddress, key);
  if (address !== undefined) await releaseFinalizer(context.client, address, PROTECT_ADDRESS_FINALIZER);
}

/** A claim that vanished without us (its finalizer was taken off by hand) leaves an address that is being collected. */
async function releaseOrphan(request: Request, context: ReconcileContext): Promise<void> {
  const address = context.cache.get(IPAddress, request);
  if (address?.metadata.deletionTimestamp === undefined || !isOurs(address.spec.poolRef)) return;
  await releaseFinalizer(context.client, address, PROTECT_ADDRESS_FINALIZER);
}

async function writeStatus(claim: IPAddressClaim, outcome: Outcome, context: ReconcileContext): Promise<void> {
  const { namespace, name = "", generation } = claim.metadata;
  const desired = {
    apiVersion: IPAddressClaim.apiVersion,
    kind: IPAddressClaim.kind,
    metadata: { namespace, name },
    status: {
      ...(outcome.address === undefined ? {} : { addressRef: { name: outcome.address } }),
      conditions: withTransitionTimes([outcome.condition], conditionsOf(claim), context.clock.now(), generation),
    },
  } as unknown as IPAddressClaim;
  const live = context.cache.get(IPAddressClaim, { namespace, name });
  await ensureStatusIfPresent(context, desired, live);
}
