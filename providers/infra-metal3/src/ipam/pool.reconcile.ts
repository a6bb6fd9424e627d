import { addOwnerReference, formatTime, isReason, ownerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, Cluster, pausedCondition, type Waiters } from "@capstan/capi";
import {
  done,
  ensureFinalizer,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requeueAfter,
} from "@capstan/runtime";
import { IPPool } from "../kinds/ip-pool.ts";
import { poolKey } from "./claim.reconcile.ts";
import type { IpBook } from "./ip-book.ts";

const FINALIZER = "ippool.ipam.metal3.io";
/** The list of all addresses is written at most this often, and the less often the longer it is. */
const STATUS_PAUSE_MS = 1000;
const PAUSE_PER_ADDRESS_MS = 1;
/** An object has its limits; the IPAddresses say the rest. */
const MAX_LISTED = 10_000;

/** State that the pool controller keeps between reconciles. */
export interface PoolDeps {
  book: IpBook;
  waiters: Waiters;
  /** When a pool's status was last written. */
  written: Map<string, number>;
}

/** Reconciles an IPPool: sets its Cluster as owner, lists its addresses in the status, and keeps it while addresses are in use. */
export async function reconcileIpPool(
  request: Request,
  context: ReconcileContext,
  { book, waiters, written }: PoolDeps,
): Promise<Result> {
  const found = context.cache.get(IPPool, request);
  if (found === undefined) {
    book.forget(`${request.namespace}/${request.name}`);
    written.delete(`${request.namespace}/${request.name}`);
    return done();
  }
  const { clusterName: name } = found.spec;
  const cluster = name === undefined ? undefined : context.cache.get(Cluster, { namespace: request.namespace, name });
  if (pausedCondition(found, cluster).status === "True") return done();
  if (found.metadata.deletionTimestamp !== undefined) {
    if (!book.inUse(found)) await releaseFinalizer(context.client, found, FINALIZER, context.signal);
    return done();
  }
  if (name !== undefined && cluster === undefined) return done();
  const owned = cluster === undefined ? found : await belongTo(found, cluster, context);
  const pool = await ensureFinalizer(context.client, owned, FINALIZER, context.signal);
  const key = poolKey(pool);
  if (book.counts(pool).free > 0n) waiters.wake(key);
  const held = book.held(pool);
  const pauseMs = Math.max(STATUS_PAUSE_MS, held.size * PAUSE_PER_ADDRESS_MS);
  const leftMs = (written.get(key) ?? Number.NEGATIVE_INFINITY) + pauseMs - context.clock.monotonic();
  if (leftMs > 0) return requeueAfter(leftMs);
  await writeStatus(pool, held, context);
  written.set(key, context.clock.monotonic());
  return done();
}

/** The pool goes when its Cluster goes. */
async function belongTo(pool: IPPool, cluster: Cluster, context: ReconcileContext): Promise<IPPool> {
  const ownerReferences = addOwnerReference(pool.metadata.ownerReferences, ownerReference(cluster));
  const clusterName = cluster.metadata.name ?? "";
  if (ownerReferences === pool.metadata.ownerReferences && pool.metadata.labels?.[CLUSTER_NAME_LABEL] === clusterName)
    return pool;
  const { resourceVersion } = pool.metadata;
  const metadata = { resourceVersion, ownerReferences, labels: { [CLUSTER_NAME_LABEL]: clusterName } };
  return await context.client.patch(pool, { metadata }, {}, context.signal);
}

async function writeStatus(pool: IPPool, held: ReadonlyMap<string, string>, context: ReconcileContext): Promise<void> {
  const names = [...held].map(([holder, address]) => [holder.slice(holder.lastIndexOf("/") + 1), address] as const);
  const listed = names.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_LISTED);
  const indexes = Object.fromEntries(listed);
  const before = pool.status?.indexes ?? {};
  const changed =
    Object.keys(before).length !== listed.length || listed.some(([name, address]) => before[name] !== address);
  if (!changed) return;
  const { apiVersion, kind } = IPPool;
  const { namespace, name } = pool.metadata;
  const status = { indexes, lastUpdated: formatTime(context.clock.now()) };
  try {
    await context.client.apply(
      { apiVersion, kind, metadata: { namespace, name }, status } as unknown as IPPool,
      { subresource: "status" },
      context.signal,
    );
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}
