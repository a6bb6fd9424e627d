import { type Condition, formatTime } from "@capstan/apimachinery";
import { type Cluster, type ConditionInput, conditionsOf, type WorkerPool, withTransitionTimes } from "@capstan/capi";
import { type CoolDown, retryOf, usesRoom } from "./cool-down.ts";
import { POOL_LABEL } from "./names.ts";
import type { MemberObservation } from "./observe.ts";
import type { PoolPlan } from "./plan.ts";
import { poolProgress } from "./pool-progress.ts";

type MemberStatus = NonNullable<NonNullable<WorkerPool["status"]>["members"]>[number];

/** Everything that the status of a WorkerPool is computed from. */
export interface PoolStatusInput {
  pool: WorkerPool;
  observed: readonly MemberObservation[];
  leaving: readonly MemberObservation[];
  plan: PoolPlan;
  paused: ConditionInput;
  cluster: Cluster | undefined;
  cooling: ReadonlyMap<string, CoolDown>;
  returnAfterMs: number;
  nowMs: number;
}

/** Computes the complete status of a WorkerPool, and when it changes without an event. */
export function poolStatus(input: PoolStatusInput): {
  status: NonNullable<WorkerPool["status"]>;
  recheckMs: number | undefined;
} {
  const { pool, observed, leaving, plan, paused, cluster, nowMs } = input;
  const members = observed.map((member) => memberStatus(input, member));
  const all = [...observed, ...leaving];
  const sum = (of: (member: MemberObservation) => number): number =>
    all.reduce((total, member) => total + of(member), 0);
  const available = sum((member) => member.available);
  const before: Condition[] = conditionsOf(pool);
  const withTimes = (inputs: readonly ConditionInput[]): Condition[] =>
    withTransitionTimes(inputs, before, nowMs, pool.metadata.generation);
  const placed = placedCondition(pool, plan);
  const progress = poolProgress(pool, all, withTimes([placed])[0], nowMs);
  const retry = retryOf(pool);
  const status = {
    conditions: withTimes([
      availableCondition(pool, plan, available, cluster),
      placed,
      movingCondition(pool, plan),
      progress.condition,
      paused,
    ]),
    replicas: sum((member) => member.current),
    readyReplicas: available,
    availableReplicas: available,
    upToDateReplicas: sum((member) => member.upToDate),
    selector: `${POOL_LABEL}=${pool.metadata.name}`,
    lastRetry: retry,
    members,
    observedGeneration: pool.metadata.generation,
  };
  return { status, recheckMs: progress.dueMs };
}

function memberStatus(input: PoolStatusInput, member: MemberObservation): MemberStatus {
  const { pool, plan, cooling, returnAfterMs, nowMs } = input;
  const planned = plan.members.find(({ name }) => name === member.name);
  const state = planned?.state ?? "Active";
  const before = pool.status?.members?.find((status) => status.name === member.name);
  const since = before?.state === state ? before.since : formatTime(nowMs);
  const cause = state === "CoolingDown" ? cooling.get(member.name)?.cause : undefined;
  return {
    name: member.name,
    desired: planned?.desired ?? 0,
    current: member.current,
    available: member.available,
    upToDate: member.upToDate,
    state,
    ...(member.reason === "" ? {} : { reason: member.reason, message: member.message }),
    ...(cause === undefined ? {} : { cause, reason: state, message: coolingDown(pool, cause, since, returnAfterMs) }),
    since,
  };
}

/** When a member gets Machines again. */
function coolingDown(pool: WorkerPool, cause: CoolDown["cause"], since: string, returnAfterMs: number): string {
  const news = usesRoom(cause) ? ", as soon as its provider has a free host," : "";
  const { namespace, name } = pool.metadata;
  return `recovered at ${since}; gets more Machines after ${returnAfterMs / 1000} s${news} or with: capstan retry workerpool ${name} -n ${namespace}`;
}

/** Reports surplus machines, which will replace others. */
function movingCondition(pool: WorkerPool, plan: PoolPlan): ConditionInput {
  const type = "Moving";
  const extra = plan.members.reduce((sum, member) => sum + member.desired, 0) - (pool.spec.replicas ?? 1);
  if (extra <= 0) return { type, status: "False", reason: "Settled", message: "" };
  return {
    type,
    status: "True",
    reason: "WaitingForReplacement",
    message: `${extra} more than desired: as many machines of less preferred members will be deleted once ${pool.spec.replicas ?? 1} are available without them`,
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

function placedCondition(pool: WorkerPool, plan: PoolPlan): ConditionInput {
  const type = "Placed";
  if (plan.unplaced === 0) return { type, status: "True", reason: "Placed", message: "" };
  const { namespace, name } = pool.metadata;
  const cooling = plan.members.filter(({ state }) => state === "CoolingDown").map((member) => member.name);
  const [why, retry] =
    cooling.length === 0
      ? ["", ""]
      : [` (${cooling.join(", ")} cooling down)`, `run capstan retry workerpool ${name} -n ${namespace}, `];
  return {
    type,
    status: "False",
    reason: "NoMemberHasRoom",
    message: `${plan.unplaced} replicas do not fit into any member${why}: ${retry}raise a member's max, add a member, or free capacity`,
  };
}
