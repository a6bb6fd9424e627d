import { type ConditionInput, conditionsOf, type Waiters, withTransitionTimes } from "@capstan/capi";
import {
  done,
  ensureFinalizer,
  ensureStatusIfPresent,
  type Kind,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requeueAfter,
} from "@capstan/runtime";
import type { PoolBook } from "./pool-book.ts";
import { type Pool, PROTECT_POOL_FINALIZER, poolKeyOf, unitOf } from "./pools.ts";

/** Numbers that change with every claim are written at most this often. */
const STATUS_PAUSE_MS = 1000;

/** State that the pool controllers keep between reconciles. */
export interface PoolDeps {
  book: PoolBook;
  waiters: Waiters;
  /** When a pool's status was last written. */
  written: Map<string, number>;
}

/** Reconciles a pool: reports its usage, and keeps it while addresses are in use. */
export async function reconcilePool(
  kind: Kind<Pool>,
  request: Request,
  context: ReconcileContext,
  { book, waiters, written }: PoolDeps,
): Promise<Result> {
  const pool = context.cache.get(kind, request);
  const key = poolKeyOf({ kind: kind.kind, metadata: request });
  if (pool === undefined) {
    book.forget(key);
    written.delete(key);
    return done();
  }
  const counts = book.counts(pool);
  if (pool.metadata.deletionTimestamp !== undefined && counts.used === 0) {
    await releaseFinalizer(context.client, pool, PROTECT_POOL_FINALIZER);
    return done();
  }
  await ensureFinalizer(context.client, pool, PROTECT_POOL_FINALIZER);
  // Claims may be waiting for the additional addresses.
  if (counts.free > 0n) waiters.wake(key);
  const pauseMs = (written.get(key) ?? Number.NEGATIVE_INFINITY) + STATUS_PAUSE_MS - context.clock.monotonic();
  if (pauseMs > 0) return requeueAfter(pauseMs);
  await writeStatus(kind, pool, request, book, context);
  written.set(key, context.clock.monotonic());
  return done();
}

async function writeStatus(
  kind: Kind<Pool>,
  pool: Pool,
  request: Request,
  book: PoolBook,
  context: ReconcileContext,
): Promise<void> {
  const counts = book.counts(pool);
  const conditions = withTransitionTimes(
    [ready(pool, book)],
    conditionsOf(pool),
    context.clock.now(),
    pool.metadata.generation,
  );
  const { namespace, name } = pool.metadata;
  const desired = {
    apiVersion: pool.apiVersion,
    kind: pool.kind,
    metadata: { namespace, name },
    status: {
      ipAddresses: {
        total: saturated(counts.total),
        free: saturated(counts.free),
        used: counts.used,
        outOfRange: counts.outOfRange,
      },
      conditions,
    },
  } as unknown as Pool;
  await ensureStatusIfPresent(context, desired, context.cache.get(kind, request));
}

function ready(pool: Pool, book: PoolBook): ConditionInput {
  const addresses = book.addresses(pool);
  if (pool.metadata.deletionTimestamp !== undefined)
    return {
      type: "Ready",
      status: "False",
      reason: "Deleting",
      message: `Waiting until ${book.counts(pool).used} ${unitOf(pool.kind)}es are released; delete the claims that hold them`,
    };
  return "problem" in addresses
    ? { type: "Ready", status: "False", reason: "InvalidSpec", message: addresses.problem }
    : { type: "Ready", status: "True", reason: "Ready", message: "" };
}

/** Pools of IPv6 have more addresses than a number can say. */
function saturated(count: bigint): number {
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}
