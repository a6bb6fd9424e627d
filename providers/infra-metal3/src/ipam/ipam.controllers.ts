import { Cluster, IPAddress, IPAddressClaim, Waiters } from "@capstan/capi";
import {
  type Cache,
  type Controller,
  controller,
  keyText,
  objectsWhere,
  type Predicate,
  type ReconcileContext,
  type Request,
  requestFor,
} from "@capstan/runtime";
import { Metal3IPAddress } from "../kinds/ip-address.ts";
import { IPClaim } from "../kinds/ip-claim.ts";
import { IPPool, METAL3_IPAM_GROUP } from "../kinds/ip-pool.ts";
import { asksIpPool, reconcileCapiClaim } from "./capi-claim.reconcile.ts";
import { BY_CLAIM, type ClaimDeps, poolKey, reconcileIpClaim } from "./claim.reconcile.ts";
import { type IpBook, openIpBook } from "./ip-book.ts";
import { reconcileIpPool } from "./pool.reconcile.ts";

/** Writes that wait for the disk together share one flush. */
const CONCURRENCY = 50;
const BY_POOL = "metal3-pool";
const BY_CLUSTER_NAME = "cluster-name";

/** Adds the cache indexes that the IPAM controllers read; call it before the cache starts. */
export function addMetal3IpamIndexes(cache: Cache): void {
  cache.addIndex(Metal3IPAddress, BY_CLAIM, ({ metadata, spec }) => [
    keyText(metadata.namespace, spec.claim.name ?? ""),
  ]);
  cache.addIndex(IPClaim, BY_POOL, ({ metadata, spec }) => [keyText(metadata.namespace, spec.pool.name ?? "")]);
  cache.addIndex(IPAddressClaim, BY_POOL, (claim) =>
    asksIpPool(claim) ? [keyText(claim.metadata.namespace, claim.spec.poolRef.name)] : [],
  );
  cache.addIndex(IPPool, BY_CLUSTER_NAME, ({ metadata, spec }) =>
    spec.clusterName === undefined ? [] : [keyText(metadata.namespace, spec.clusterName)],
  );
}

/** Returns the controllers that allocate addresses of IPPools to claims of both API groups. */
export function metal3IpamControllers(): Controller[] {
  const claimWaiters = new Waiters();
  const capiWaiters = new Waiters();
  const written = new Map<string, number>();
  let opened: { cache: Cache; book: IpBook } | undefined;
  const deps = ({ cache, signal }: ReconcileContext, waiters: Waiters): ClaimDeps => {
    const wakeBoth = (pool: string): void => {
      claimWaiters.wake(pool);
      capiWaiters.wake(pool);
    };
    if (opened?.cache !== cache) opened = { cache, book: openIpBook(cache, signal, wakeBoth) };
    return { book: opened.book, waiters };
  };
  const claimsOf =
    (kind: typeof IPClaim | typeof IPAddressClaim) =>
    (pool: IPPool, cache: Cache): Request[] =>
      cache.synced(kind as typeof IPClaim)
        ? cache
            .byIndex(kind as typeof IPClaim, BY_POOL, poolKey(pool))
            .filter(isOpen)
            .flatMap(requestFor)
        : [];
  return [
    controller("metal3-ip-claim")
      .for(IPClaim, { predicate: { update: isOpen } })
      .watches(Metal3IPAddress, ({ metadata, spec }) => requestOf(metadata.namespace, spec.claim.name), {
        predicate: notOwnCreation,
      })
      .watches(IPPool, claimsOf(IPClaim), { predicate: poolChanged })
      .watches(Cluster, (cluster, cache) => poolsOf(cluster, cache).flatMap((pool) => claimsOf(IPClaim)(pool, cache)), {
        predicate: clusterAppearsOrUnpauses,
      })
      .watchesRaw({ start: (enqueue) => claimWaiters.onWake(enqueue) })
      .concurrency(CONCURRENCY)
      .reconcile((request, context) => reconcileIpClaim(request, context, deps(context, claimWaiters))),
    controller("metal3-ip-address-claim")
      .for(IPAddressClaim, { predicate: objectsWhere(asksIpPool) })
      .watches(IPPool, claimsOf(IPAddressClaim), { predicate: poolChanged })
      .watchesRaw({ start: (enqueue) => capiWaiters.onWake(enqueue) })
      .concurrency(CONCURRENCY)
      .reconcile((request, context) => reconcileCapiClaim(request, context, deps(context, capiWaiters))),
    controller("metal3-ip-pool")
      .for(IPPool)
      .watches(Metal3IPAddress, ({ metadata, spec }) => requestOf(metadata.namespace, spec.pool.name))
      .watches(IPAddress, ({ metadata, spec }) =>
        spec.poolRef.apiGroup === METAL3_IPAM_GROUP ? requestOf(metadata.namespace, spec.poolRef.name) : [],
      )
      .watches(Cluster, (cluster, cache) => poolsOf(cluster, cache).flatMap(requestFor), {
        predicate: clusterAppearsOrUnpauses,
      })
      .reconcile((request, context) => reconcileIpPool(request, context, { ...deps(context, claimWaiters), written })),
  ];
}

function requestOf(namespace = "", name: string | undefined): Request[] {
  return name === undefined ? [] : [{ namespace, name }];
}

function isOpen(claim: { metadata: { deletionTimestamp?: string }; status?: unknown }): boolean {
  const status = claim.status as { address?: unknown; addressRef?: unknown } | undefined;
  const given = status?.address ?? status?.addressRef;
  return given === undefined || claim.metadata.deletionTimestamp !== undefined;
}

function poolsOf(cluster: Cluster, cache: Cache): IPPool[] {
  if (!cache.synced(IPPool)) return [];
  return cache.byIndex(IPPool, BY_CLUSTER_NAME, keyText(cluster.metadata.namespace, cluster.metadata.name ?? ""));
}

/** An address that appears is nearly always the claim's own doing. */
const notOwnCreation: Predicate<Metal3IPAddress> = { create: () => false };

/** Of a pool only its spec and its end matter to claims, and only to those without an address. */
const poolChanged: Predicate<IPPool> = {
  update: (pool, old) =>
    pool.metadata.generation !== old.metadata.generation ||
    pool.metadata.deletionTimestamp !== old.metadata.deletionTimestamp,
};

const clusterAppearsOrUnpauses: Predicate<Cluster> = {
  update: (cluster, old) => cluster.spec?.paused !== old.spec?.paused,
};
