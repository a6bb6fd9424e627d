import { Cluster, type ConditionInput, conditionsOf, pausedCondition, withTransitionTimes } from "@capstan/capi";
import {
  done,
  type ReconcileContext,
  type Request,
  type Result,
  type RetryLimiter,
  requeueAfter,
  retryLimiter,
} from "@capstan/runtime";
import type { MachinePlane } from "../backup/machine-backups.ts";
import { ControlPlaneRecovery, type RecoveryPlan } from "../kinds/control-plane-recovery.ts";
import { holdsNothing, releaseAbandoned } from "./abandoned.ts";
import { type Advance, advance } from "./advance.ts";
import { KubeadmTarget, planeOf, type RecoveryDeps } from "./kubeadm-target.ts";
import { describePlan, type RecoveryRecord } from "./record.ts";

/** Members and new Machines are asked again this often while a recovery waits for them. */
const RECHECK_MS = 5_000;
/** Before the approval only the plan changes. */
const PLAN_RECHECK_MS = 30_000;

/** A step that fails is repeated after 5 s at first, and then half as often each time: it may fetch a large snapshot. */
const RETRIES = { firstMs: RECHECK_MS, lastMs: 300_000 };

/** What a manager remembers from one reconcile to the next. */
export interface RecoveryMemory {
  /** Absent before the first reconcile. */
  retries?: RetryLimiter | undefined;
}

/** Takes a recovery one phase further; the phase is stored before its work begins. */
export async function reconcileControlPlaneRecovery(
  request: Request,
  context: ReconcileContext,
  deps: RecoveryDeps,
  memory: RecoveryMemory,
): Promise<Result> {
  // Recoveries may have been deleted while no manager ran.
  if (memory.retries === undefined) await forgetOthers(context, deps);
  memory.retries ??= retryLimiter(context.clock, RETRIES);
  const { retries } = memory;
  const object = context.cache.get(ControlPlaneRecovery, request);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
    await forgetOthers(context, deps);
    return (await releaseAbandoned(request, context, deps)) ? requeueAfter(PLAN_RECHECK_MS) : done();
  }
  const isHeld = holdsNothing(object) && (await releaseAbandoned(request, context, deps));
  const record = recordOf(object);
  const cluster = context.cache.get(Cluster, { namespace: request.namespace ?? "", name: object.spec.clusterName });
  const plane = planeOf(object, cluster, context);
  if (plane === undefined) {
    const message = `Cluster ${object.spec.clusterName} does not exist, or its control plane is not a KubeadmControlPlane`;
    await writeStatus(object, { record, message, waits: true }, context, "ClusterDoesNotExist");
    return requeueAfter(PLAN_RECHECK_MS);
  }
  const obstacle = obstacleTo(object, plane);
  if (obstacle !== undefined) {
    await writeStatus(object, { record, message: obstacle.message, waits: true }, context, obstacle.reason);
    return requeueAfter(PLAN_RECHECK_MS);
  }
  const { backup, approved = false, approvedPlan } = object.spec;
  const wish = { backup, approved, approvedPlan };
  // Its plan would be one that nobody has read: a quorum that is lost for a minute some day must not cost the Machines.
  if (record.phase === "Refused" && wish.approved) return isHeld ? requeueAfter(PLAN_RECHECK_MS) : done();
  const target = new KubeadmTarget(object, plane, deps, context);
  try {
    const next = await advance(record, target, wish);
    retries.forget(object.metadata.uid ?? "");
    await writeStatus(object, next, context);
    if (!next.waits) return requeueAfter(0);
    if (record.phase === "Done") return done();
    return requeueAfter(/^(WaitingForApproval|Refused)$/.test(next.record.phase) ? PLAN_RECHECK_MS : RECHECK_MS);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await writeStatus(object, { record, message, waits: true }, context, "Failed");
    return requeueAfter(retries.when(object.metadata.uid ?? ""));
  }
}

/** Serves and keeps nothing for recoveries that were deleted. */
async function forgetOthers({ cache }: ReconcileContext, { server, kept }: RecoveryDeps): Promise<void> {
  const left = new Set(cache.list(ControlPlaneRecovery).map(({ metadata }) => metadata.uid ?? ""));
  await server.keep(left);
  await kept.retain(left);
}

/** Why a recovery does not go on: what it would create must not outlive a deletion, and a pause stops everything. */
function obstacleTo(
  object: ControlPlaneRecovery,
  { cluster, controlPlane }: MachinePlane,
): { readonly reason: string; readonly message: string } | undefined {
  for (const { kind, metadata } of [cluster, controlPlane])
    if (metadata.deletionTimestamp !== undefined)
      return { reason: "Deleting", message: `${kind} ${metadata.name ?? ""} is being deleted: nothing is recovered` };
  for (const paused of [pausedCondition(object, cluster), pausedCondition(controlPlane, undefined)])
    if (paused.status === "True") return { reason: "Paused", message: paused.message ?? "" };
  return undefined;
}

/** The record in the status; without one the recovery has not begun. */
export function recordOf({ status }: ControlPlaneRecovery): RecoveryRecord {
  const { phase = "Planning", plan, savedBackup = "", snapshotDigest: digest, machine } = status ?? {};
  switch (phase) {
    case "Planning":
    case "Refused":
      return { phase };
    case "WaitingForApproval":
    case "Saving":
      return plan === undefined ? { phase: "Planning" } : { phase, plan };
    default:
      if (plan === undefined) return { phase: "Planning" };
      if (phase === "Verifying") return { phase, plan, savedBackup };
      if (phase === "Removing") return { phase, plan, savedBackup, digest };
      if (phase === "Starting" || machine === undefined)
        return { phase: "Starting", plan, savedBackup, digest, machine };
      return { phase, plan, savedBackup, digest, machine };
  }
}

async function writeStatus(
  object: ControlPlaneRecovery,
  { record, message }: Advance,
  context: ReconcileContext,
  problem?: string,
): Promise<void> {
  const { namespace = "", name = "", generation } = object.metadata;
  const condition = conditionOf(record, message, problem, context.clock.now());
  const conditions = withTransitionTimes([condition], conditionsOf(object), context.clock.now(), generation);
  const none = { plan: undefined, savedBackup: undefined, digest: undefined, machine: undefined };
  const { plan, savedBackup, digest, machine } = { ...none, ...record };
  const desired = {
    apiVersion: ControlPlaneRecovery.apiVersion,
    kind: ControlPlaneRecovery.kind,
    metadata: { namespace, name },
    status: {
      conditions,
      phase: record.phase,
      plan,
      savedBackup,
      snapshotDigest: digest,
      machine,
      observedGeneration: generation,
    },
  };
  const live = context.cache.get(ControlPlaneRecovery, { namespace, name });
  await context.ensureStatus(desired as ControlPlaneRecovery, live);
}

const startText = ({ digest }: RecoveryPlan): string =>
  `To start it, set spec.approved to true and spec.approvedPlan to ${digest ?? ""}`;

function conditionOf(
  record: RecoveryRecord,
  message: string,
  problem: string | undefined,
  nowMs: number,
): ConditionInput {
  const base = { type: "Recovered", status: "False" as const };
  if (problem !== undefined) return { ...base, reason: problem, message };
  switch (record.phase) {
    case "Done":
      return { type: "Recovered", status: "True", reason: "Recovered", message: "" };
    case "WaitingForApproval":
      return {
        ...base,
        reason: record.phase,
        message: [message, describePlan(record.plan, nowMs), startText(record.plan)].join(" ").trim(),
      };
    default:
      return { ...base, reason: record.phase, message };
  }
}
