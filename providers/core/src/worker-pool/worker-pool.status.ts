import { type Condition, formatTime } from "@capstan/apimachinery";
import { type Cluster, type ConditionInput, conditionsOf, type WorkerPool, withTransitionTimes } from "@capstan/capi";
import { POOL_LABEL } from "./names.ts";
import type { MemberObservation } from "./observe.ts";
import type { MemberPlan, PoolPlan } from "./plan.ts";

type MemberStatus = NonNullable<NonNullable<WorkerPool["status"]>["members"]>[number];

/** The whole status, computed from what was read and planned. */
export function poolStatus(
  pool: WorkerPool,
  observed: readonly MemberObservation[],
  leaving: readonly MemberObservation[],
  plan: PoolPlan,
  paused: ConditionInput,
  cluster: Cluster | undefined,
  returnAfterMs: number,
  nowMs: number,
): NonNullable<WorkerPool["status"]> {
  const members = observed.map((member) =>
    memberStatus(
      pool,
      member,
      plan.members.find((p) => p.name === member.name),
      returnAfterMs,
      nowMs,
    ),
  );
  const all = [...observed, ...leaving];
  const available = all.reduce((sum, member) => sum + member.available, 0);
  const conditions = [
    availableCondition(pool, plan, available, cluster),
    placedCondition(plan),
    movingCondition(pool, plan),
    paused,
  ];
  const before: Condition[] = conditionsOf(pool);
  return {
    conditions: withTransitionTimes(conditions, before, nowMs, pool.metadata.generation),
    replicas: all.reduce((sum, member) => sum + member.current, 0),
    readyReplicas: available,
    availableReplicas: available,
    selector: `${POOL_LABEL}=${pool.metadata.name}`,
    members,
    ...(pool.metadata.generation === undefined ? {} : { observedGeneration: pool.metadata.generation }),
  };
}

function memberStatus(
  pool: WorkerPool,
  member: MemberObservation,
  planned: MemberPlan | undefined,
  returnAfterMs: number,
  nowMs: number,
): MemberStatus {
  const state = planned?.state ?? "Active";
  const before = pool.status?.members?.find((status) => status.name === member.name);
  const since = before?.state === state ? before.since : formatTime(nowMs);
  return {
    name: member.name,
    desired: planned?.desired ?? 0,
    current: member.current,
    available: member.available,
    state,
    ...(member.reason === "" ? {} : { reason: member.reason, message: member.message }),
    ...(state === "CoolingDown" ? { reason: state, message: coolingDown(since, returnAfterMs) } : {}),
    since,
  };
}

function coolingDown(since: string, returnAfterMs: number): string {
  return `its trouble is over since ${since}; it is asked for more after ${returnAfterMs / 1000} s`;
}

/** Tells of machines beyond what is wanted: they are to replace others. */
function movingCondition(pool: WorkerPool, plan: PoolPlan): ConditionInput {
  const type = "Moving";
  const extra = plan.members.reduce((sum, member) => sum + member.desired, 0) - (pool.spec.replicas ?? 1);
  if (extra <= 0) return { type, status: "False", reason: "Settled", message: "" };
  return {
    type,
    status: "True",
    reason: "WaitingForReplacement",
    message: `${extra} more than wanted: as many machines of less preferred members go when ${pool.spec.replicas ?? 1} are available without them`,
  };
}

function availableCondition(
  pool: WorkerPool,
  plan: PoolPlan,
  available: number,
  cluster: Cluster | undefined,
): ConditionInput {
  const type = "Available";
  if (cluster === undefined)
    return {
      type,
      status: "False",
      reason: "ClusterDoesNotExist",
      message: `Cluster ${pool.spec.clusterName} does not exist; create it or correct spec.clusterName`,
    };
  const wanted = pool.spec.replicas ?? 1;
  const allowed = pool.spec.overflow?.maxUnavailable ?? 1;
  // A pool without any machine is not available, however few may be missing.
  if (available >= Math.max(Math.min(1, wanted), wanted - allowed) && plan.unplaced === 0)
    return { type, status: "True", reason: "Available", message: "" };
  return { type, status: "False", reason: "NotAvailable", message: `${available} of ${wanted} machines are available` };
}

function placedCondition(plan: PoolPlan): ConditionInput {
  const type = "Placed";
  if (plan.unplaced === 0) return { type, status: "True", reason: "Placed", message: "" };
  return {
    type,
    status: "False",
    reason: "NoMemberHasRoom",
    message: `${plan.unplaced} replicas fit into no member: raise a member's max, add a member, or free capacity`,
  };
}
