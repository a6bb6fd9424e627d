import { findCondition, ownerReference } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  type ConditionInput,
  conditionsOf,
  IPAddress,
  IPAddressClaim,
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
} from "@capstan/runtime";
import { IPPool, METAL3_IPAM_GROUP } from "../kinds/ip-pool.ts";
import { allocate, mayWork, poolOf } from "./allocate.ts";
import { type ClaimDeps, poolKey } from "./claim.reconcile.ts";
import { capiHolderName } from "./ip-book.ts";

const CLAIM_FINALIZER = "ipam.metal3.io/ipaddressclaim";
const ADDRESS_FINALIZER = "ipam.metal3.io/ipaddress";

/** Reports whether an IPAddressClaim of Cluster API refers to a Metal3 IPPool. */
export function asksIpPool({ spec }: IPAddressClaim): boolean {
  return spec.poolRef.apiGroup === METAL3_IPAM_GROUP && spec.poolRef.kind === IPPool.kind;
}

/** Reconciles an IPAddressClaim of Cluster API: allocates an address of an IPPool, or releases it. */
export async function reconcileCapiClaim(
  request: Request,
  context: ReconcileContext,
  deps: ClaimDeps,
): Promise<Result> {
  const claim = context.cache.get(IPAddressClaim, request);
  const holder = capiHolderName(request.namespace, request.name);
  const key = keyText(request.namespace, request.name);
  if (claim === undefined) {
    deps.book.cancel(holder);
    deps.waiters.gone(key);
    return done();
  }
  if (!asksIpPool(claim)) return done();
  const pool = poolOf(context.cache, request.namespace, claim.spec.poolRef.name);
  const deleting = claim.metadata.deletionTimestamp !== undefined;
  if (!mayWork(context.cache, pool, claim, deleting)) return done();
  if (deleting) {
    const address = context.cache.get(IPAddress, request);
    if (address !== undefined && address.spec.poolRef.apiGroup === METAL3_IPAM_GROUP) {
      if (address.metadata.deletionTimestamp === undefined) await context.client.delete(address, {}, context.signal);
      const left = context.cache.get(IPAddress, request);
      if (left !== undefined) await releaseFinalizer(context.client, left, ADDRESS_FINALIZER, context.signal);
    }
    deps.book.cancel(holder);
    deps.waiters.gone(key);
    await releaseFinalizer(context.client, claim, CLAIM_FINALIZER, context.signal);
    return done();
  }
  if (claim.status?.addressRef !== undefined) return done();
  const outcome = await give(claim, pool, holder, context, deps);
  await report(claim, outcome, context);
  return done();
}

interface Outcome {
  addressRef?: { name: string };
  condition: ConditionInput;
}

const ready = (name: string): Outcome => ({
  addressRef: { name },
  condition: { type: "Ready", status: "True", reason: "Ready", message: "" },
});
const notReady = (reason: string, message: string): Outcome => ({
  condition: { type: "Ready", status: "False", reason, message },
});

async function give(
  claim: IPAddressClaim,
  pool: IPPool | undefined,
  holder: string,
  context: ReconcileContext,
  { book, waiters }: ClaimDeps,
): Promise<Outcome> {
  const { namespace, name = "" } = claim.metadata;
  if (context.cache.get(IPAddress, { namespace, name }) !== undefined) return ready(name);
  const found = allocate(pool, claim.spec.poolRef.name, claim, holder, { book, random: context.random });
  if ("problem" in found || pool === undefined) {
    const exhausted = "problem" in found && found.exhausted;
    if (pool !== undefined && exhausted) waiters.wait(poolKey(pool), keyText(namespace, name));
    return notReady(exhausted ? "PoolExhausted" : "AllocationFailed", "problem" in found ? found.problem : "");
  }
  waiters.gone(keyText(namespace, name));
  const held = await ensureFinalizer(context.client, claim, CLAIM_FINALIZER, context.signal);
  const cluster = claim.spec.clusterName ?? claim.metadata.labels?.[CLUSTER_NAME_LABEL];
  const object: IPAddress = {
    apiVersion: IPAddress.apiVersion,
    kind: IPAddress.kind,
    metadata: {
      namespace,
      name,
      finalizers: [ADDRESS_FINALIZER],
      ...(cluster === undefined ? {} : { labels: { [CLUSTER_NAME_LABEL]: cluster } }),
      ownerReferences: [ownerReference(held, { controller: true }), ownerReference(pool)],
    },
    spec: {
      claimRef: { name },
      poolRef: { ...claim.spec.poolRef },
      address: found.address,
      prefix: found.facts.prefix ?? 0,
      gateway: found.facts.gateway,
    },
  };
  await context.client.create(object, {}, context.signal);
  return ready(name);
}

async function report(claim: IPAddressClaim, outcome: Outcome, context: ReconcileContext): Promise<void> {
  const { namespace, name = "", generation } = claim.metadata;
  const { apiVersion, kind } = IPAddressClaim;
  const status = {
    addressRef: outcome.addressRef,
    conditions: withTransitionTimes([outcome.condition], conditionsOf(claim), context.clock.now(), generation),
  };
  const desired = { apiVersion, kind, metadata: { namespace, name }, status } as unknown as IPAddressClaim;
  const live = context.cache.get(IPAddressClaim, { namespace, name });
  const { status: word, reason, message } = outcome.condition;
  if (word === "False" && findCondition(conditionsOf(claim), "Ready")?.message !== message)
    context.recorder.event(claim, "Warning", reason, "Allocate", message);
  await ensureStatusIfPresent(context, desired, live);
}
