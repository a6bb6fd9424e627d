import { type Condition, formatTime, type OwnerReference } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ConditionInput,
  conditionsOf,
  DELETE_MACHINE_ANNOTATION,
  DEPLOYMENT_NAME_LABEL,
  Machine,
  MachineDeployment,
  pausedCondition,
  WorkerPool,
  withTransitionTimes,
} from "@capstan/capi";
import { type Cache, done, type ReconcileContext, type Request, type Result, requeueAfter } from "@capstan/runtime";
import { type MemberObservation, observeMember } from "./observe.ts";
import { type MemberPlan, type PoolPlan, planPool } from "./plan.ts";

export const POOL_LABEL = "capstan.dev/worker-pool";
/** Index of Machines by MachineDeployment. */
export const MACHINES_BY_DEPLOYMENT = "worker-pool-deployment";
const DEFAULT_RETURN_MS = 900_000;

type MemberStatus = NonNullable<NonNullable<WorkerPool["status"]>["members"]>[number];

/** Spreads one WorkerPool's replicas over its members' MachineDeployments. */
export async function reconcileWorkerPool(request: Request, context: ReconcileContext): Promise<Result> {
  const pool = context.cache.get(WorkerPool, request);
  // Owned MachineDeployments go by garbage collection.
  if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) return done();
  const cluster = context.cache.get(Cluster, { namespace: request.namespace, name: pool.spec.clusterName });
  const paused = pausedCondition(pool, cluster);
  const nowMs = context.clock.now();
  const observed = observe(pool, context.cache, nowMs);
  const recoveredAt = recovered(pool, observed, nowMs);
  const returnAfterMs = seconds(pool.spec.overflow?.returnAfterSeconds, DEFAULT_RETURN_MS);
  const plan = planPool({
    replicas: pool.spec.replicas ?? 1,
    strategy: pool.spec.strategy ?? "Cheapest",
    members: observed,
    maxUnavailable: pool.spec.overflow?.maxUnavailable ?? 1,
    returnAfterMs,
    nowMs,
    recoveredAt,
  });
  if (paused.status !== "True" && cluster !== undefined && cluster.metadata.deletionTimestamp === undefined)
    await ensureDeployments(pool, plan, observed, context);
  const status = poolStatus(pool, observed, plan, paused, cluster, nowMs);
  await context.client.ensure(
    {
      apiVersion: WorkerPool.apiVersion,
      kind: WorkerPool.kind,
      metadata: { namespace: request.namespace, name: request.name },
      status,
    } as WorkerPool,
    context.cache.get(WorkerPool, request),
    { subresource: "status" },
  );
  return nextLook(observed, recoveredAt, returnAfterMs, nowMs);
}

const seconds = (value: number | undefined, fallbackMs: number): number =>
  value === undefined ? fallbackMs : value * 1000;

export function deploymentName(pool: WorkerPool, member: string): string {
  return `${pool.metadata.name}-${member}`;
}

function observe(pool: WorkerPool, cache: Cache, nowMs: number): MemberObservation[] {
  const namespace = pool.metadata.namespace ?? "";
  const after = pool.spec.overflow?.afterSeconds;
  return pool.spec.members.map((member) => {
    const name = deploymentName(pool, member.name);
    const deployment = cache.get(MachineDeployment, { namespace, name });
    const machines = cache.byIndex(Machine, MACHINES_BY_DEPLOYMENT, `${namespace}/${name}`);
    return observeMember(member, deployment, machines, after === undefined ? undefined : after * 1000, nowMs);
  });
}

/** Members that are well now and were not when the status was last written, or that still cool down. */
function recovered(pool: WorkerPool, observed: readonly MemberObservation[], nowMs: number): Map<string, number> {
  const result = new Map<string, number>();
  for (const member of observed) {
    if (member.health !== "Good") continue;
    const before = pool.status?.members?.find((status) => status.name === member.name);
    if (before?.state === "CoolingDown") result.set(member.name, Date.parse(before.since));
    else if (before?.state === "Full" || before?.state === "Unhealthy") result.set(member.name, nowMs);
  }
  return result;
}

/** Ordinary MachineDeployments, whose replicas only the pool writes. */
async function ensureDeployments(
  pool: WorkerPool,
  plan: PoolPlan,
  observed: readonly MemberObservation[],
  context: ReconcileContext,
): Promise<void> {
  const { namespace } = pool.metadata;
  await markStarved(plan, observed, context);
  const owner: OwnerReference = {
    apiVersion: WorkerPool.apiVersion,
    kind: WorkerPool.kind,
    name: pool.metadata.name ?? "",
    uid: pool.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
  await Promise.all(
    pool.spec.members.map(async (member) => {
      const name = deploymentName(pool, member.name);
      const labels = { [CLUSTER_NAME_LABEL]: pool.spec.clusterName, [POOL_LABEL]: pool.metadata.name ?? "" };
      const machineLabels = { ...pool.spec.template.metadata?.labels, ...labels, [DEPLOYMENT_NAME_LABEL]: name };
      const { version } = pool.spec.template.spec;
      const annotations = pool.spec.template.metadata?.annotations;
      const desired = {
        apiVersion: MachineDeployment.apiVersion,
        kind: MachineDeployment.kind,
        metadata: { namespace, name, labels, ownerReferences: [owner] },
        spec: {
          clusterName: pool.spec.clusterName,
          replicas: plan.members.find((planned) => planned.name === member.name)?.desired ?? 0,
          selector: { matchLabels: { [CLUSTER_NAME_LABEL]: pool.spec.clusterName, [DEPLOYMENT_NAME_LABEL]: name } },
          template: {
            metadata: { labels: machineLabels, ...(annotations === undefined ? {} : { annotations }) },
            spec: {
              clusterName: pool.spec.clusterName,
              bootstrap: member.bootstrap,
              infrastructureRef: member.infrastructureRef,
              ...(version === undefined ? {} : { version }),
              ...(member.failureDomain === undefined ? {} : { failureDomain: member.failureDomain }),
            },
          },
        },
      };
      await context.client.ensure(
        desired as MachineDeployment,
        context.cache.get(MachineDeployment, { namespace, name }),
      );
    }),
  );
  await deleteFormerMembers(pool, context);
}

/** Where replicas are taken away, machines that got nothing go before those that come up. */
async function markStarved(
  plan: PoolPlan,
  observed: readonly MemberObservation[],
  context: ReconcileContext,
): Promise<void> {
  for (const { name, current, starved = [] } of observed) {
    const fewer = current - (plan.members.find((planned) => planned.name === name)?.desired ?? 0);
    for (const machine of starved.slice(0, Math.max(0, fewer))) {
      if (machine.metadata.annotations?.[DELETE_MACHINE_ANNOTATION] !== undefined) continue;
      await context.client.patch(machine, { metadata: { annotations: { [DELETE_MACHINE_ANNOTATION]: "" } } });
    }
  }
}

async function deleteFormerMembers(pool: WorkerPool, context: ReconcileContext): Promise<void> {
  const wanted = new Set(pool.spec.members.map((member) => deploymentName(pool, member.name)));
  const ours = context.cache
    .list(MachineDeployment, { namespace: pool.metadata.namespace })
    .filter((deployment) =>
      deployment.metadata.ownerReferences?.some(
        (owner) => owner.uid === pool.metadata.uid && owner.controller === true,
      ),
    );
  for (const deployment of ours)
    if (!wanted.has(deployment.metadata.name ?? "") && deployment.metadata.deletionTimestamp === undefined)
      await context.client.delete(deployment);
}

function poolStatus(
  pool: WorkerPool,
  observed: readonly MemberObservation[],
  plan: PoolPlan,
  paused: ConditionInput,
  cluster: Cluster | undefined,
  nowMs: number,
): NonNullable<WorkerPool["status"]> {
  const members = observed.map((member) =>
    memberStatus(
      pool,
      member,
      plan.members.find((p) => p.name === member.name),
      nowMs,
    ),
  );
  const available = observed.reduce((sum, member) => sum + member.available, 0);
  const conditions = [availableCondition(pool, plan, available, cluster), placedCondition(plan), paused];
  const before: Condition[] = conditionsOf(pool);
  return {
    conditions: withTransitionTimes(conditions, before, nowMs, pool.metadata.generation),
    replicas: observed.reduce((sum, member) => sum + member.current, 0),
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
  nowMs: number,
): MemberStatus {
  const state = planned?.state ?? "Active";
  const before = pool.status?.members?.find((status) => status.name === member.name);
  return {
    name: member.name,
    desired: planned?.desired ?? 0,
    current: member.current,
    available: member.available,
    state,
    ...(member.reason === "" ? {} : { reason: member.reason, message: member.message }),
    since: before?.state === state ? before.since : formatTime(nowMs),
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
  if (available >= wanted - allowed && plan.unplaced === 0)
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

/** The next time something changes by itself: a machine becomes too slow, or a member has cooled down. */
function nextLook(
  observed: readonly MemberObservation[],
  recoveredAt: ReadonlyMap<string, number>,
  returnAfterMs: number,
  nowMs: number,
): Result {
  const times = [
    ...observed.flatMap((member) => (member.nextDeadlineMs === undefined ? [] : [member.nextDeadlineMs])),
    ...[...recoveredAt.values()].map((at) => at + returnAfterMs),
  ];
  const next = Math.min(...times);
  return Number.isFinite(next) ? requeueAfter(Math.max(1000, next - nowMs)) : done();
}
