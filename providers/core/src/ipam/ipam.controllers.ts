import { CLUSTER_NAME_LABEL, Cluster, IPAddress, IPAddressClaim, PAUSED_ANNOTATION, Waiters } from "@capstan/capi";
import {
  type Cache,
  type Controller,
  controller,
  type Kind,
  type Predicate,
  type ReconcileContext,
  type Request,
  requestFor,
} from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";
import { addressKey, reconcileClaim } from "./claim.reconcile.ts";
import { reconcilePool } from "./pool.reconcile.ts";
import { openPoolBook, type PoolBook } from "./pool-book.ts";
import { BY_ADDRESS, BY_POOL, isOurs, POOL_KINDS, type Pool, poolKeyOf } from "./pools.ts";

const CONCURRENCY = 20;

/** Adds the cache indexes that the IPAM controllers read; call it before the cache starts. */
export function addIpamIndexes(cache: Cache): void {
  // Other providers may have pools of the same kind and name: those are unrelated to ours, and any user can create them.
  cache.addIndex(IPAddress, BY_ADDRESS, (address) => (isOurs(address.spec.poolRef) ? [addressKey(address)] : []));
  cache.addIndex(IPAddressClaim, BY_POOL, ({ metadata, spec: { poolRef } }) =>
    isOurs(poolRef)
      ? [poolKeyOf({ kind: poolRef.kind, metadata: { namespace: metadata.namespace, name: poolRef.name } })]
      : [],
  );
  cache.addIndex(IPAddressClaim, BY_CLUSTER, ({ metadata, spec }) => {
    const cluster = spec.clusterName ?? metadata.labels?.[CLUSTER_NAME_LABEL];
    return cluster === undefined ? [] : [clusterKey(metadata.namespace ?? "", cluster)];
  });
}

/** Returns the controllers that allocate addresses and prefixes of in-cluster pools to claims. */
export function ipamControllers(): Controller[] {
  const waiters = new Waiters();
  const written = new Map<string, number>();
  let opened: { cache: Cache; book: PoolBook } | undefined;
  const book = ({ cache, signal }: ReconcileContext): PoolBook => {
    if (opened?.cache !== cache) opened = { cache, book: openPoolBook(cache, signal, (pool) => waiters.wake(pool)) };
    return opened.book;
  };
  const kinds = [...POOL_KINDS.values()];
  const claims = controller("ip-address-claim")
    .for(IPAddressClaim)
    .watches(IPAddress, requestFor, { predicate: notOwnCreation })
    .watches(Cluster, claimsOfCluster, { predicate: clusterAppearsOrUnpauses });
  for (const kind of kinds) claims.watches(kind, claimsOfPool, { predicate: poolChanged });
  const claimController = claims
    .watchesRaw({ start: (enqueue) => waiters.onWake(enqueue) })
    .concurrency(CONCURRENCY)
    .reconcile((request, context) => reconcileClaim(request, context, { book: book(context), waiters }));
  const poolController = (kind: Kind<Pool>): Controller =>
    controller(nameOf(kind))
      .for(kind)
      .watches(IPAddress, ({ metadata, spec }) =>
        isOurs(spec.poolRef) && spec.poolRef.kind === kind.kind
          ? [{ namespace: kind.namespaced ? (metadata.namespace ?? "") : "", name: spec.poolRef.name }]
          : [],
      )
      .concurrency(CONCURRENCY)
      .reconcile((request, context) =>
        reconcilePool(kind, request, context, { book: book(context), waiters, written }),
      );
  return [claimController, ...kinds.map(poolController)];
}

/** `InClusterIPPool` is looked after by `in-cluster-ip-pool`. */
function nameOf({ kind }: Kind<Pool>): string {
  return kind.replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "-").toLowerCase();
}

/** An address that appears is nearly always the claim's own doing. */
const notOwnCreation: Predicate<IPAddress> = { create: () => false };

/** Only spec, pause and deletion of a pool affect claims, and only those without an address. */
const poolChanged: Predicate<Pool> = {
  update: (pool, old) =>
    pool.metadata.generation !== old.metadata.generation ||
    pool.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    pool.metadata.annotations?.[PAUSED_ANNOTATION] !== old.metadata.annotations?.[PAUSED_ANNOTATION],
};

function claimsOfPool(pool: Pool, cache: Cache): Request[] {
  if (!cache.synced(IPAddressClaim)) return [];
  return cache
    .byIndex(IPAddressClaim, BY_POOL, poolKeyOf(pool))
    .filter((claim) => claim.status?.addressRef === undefined || claim.metadata.deletionTimestamp !== undefined)
    .flatMap(requestFor);
}

const clusterAppearsOrUnpauses: Predicate<Cluster> = {
  update: (cluster, old) =>
    cluster.spec?.paused !== old.spec?.paused ||
    cluster.metadata.annotations?.[PAUSED_ANNOTATION] !== old.metadata.annotations?.[PAUSED_ANNOTATION],
};

function claimsOfCluster(cluster: Cluster, cache: Cache): Request[] {
  if (!cache.synced(IPAddressClaim)) return [];
  const key = clusterKey(cluster.metadata.namespace ?? "", cluster.metadata.name ?? "");
  return cache.byIndex(IPAddressClaim, BY_CLUSTER, key).flatMap(requestFor);
}
