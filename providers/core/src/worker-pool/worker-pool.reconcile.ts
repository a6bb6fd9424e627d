import { addOwnerReference, ownerReference } from "@capstan/apimachinery";
import {
  type CapacitySource,
  CLUSTER_NAME_LABEL,
  Cluster,
  DELETE_MACHINE_ANNOTATION,
  DEPLOYMENT_NAME_LABEL,
  Machine,
  MachineDeployment,
  PROGRESS_DEADLINE_ANNOTATION,
  pausedCondition,
  WorkerPool,
} from "@capstan/capi";
import {
  type Cache,
  done,
  type ReconcileContext,
  type Request,
  type Result,
  requeueAfter,
  soonest,
  writeChanges,
} from "@capstan/runtime";
import type { HealthCheckClock } from "../machine-health-check/health-check-clock.ts";
import { type CoolDown, coolDowns, usesRoom } from "./cool-down.ts";
import { formerMembers, observeFormer, shrinkFormer } from "./former-members.ts";
import { deploymentName, MACHINES_BY_DEPLOYMENT, POOL_LABEL } from "./names.ts";
import { type MemberObservation, observeMember } from "./observe.ts";
import { type PoolPlan, planPool } from "./plan.ts";
import { roomOf } from "./room.ts";
import { poolStatus } from "./worker-pool.status.ts";

const DEFAULT_RETURN_MS = 900_000;

/** Reconciles a WorkerPool: distributes its replicas over the MachineDeployments of its members. */
export async function reconcileWorkerPool(
  request: Request,
  context: ReconcileContext,
  sources: readonly CapacitySource[],
  clocks: HealthCheckClock,
): Promise<Result> {
  const pool = context.cache.get(WorkerPool, request);
  // Owned MachineDeployments go by garbage collection.
  if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) return done();
  const cluster = context.cache.get(Cluster, { namespace: request.namespace, name: pool.spec.clusterName });
  const paused = pausedCondition(pool, cluster);
  const nowMs = context.clock.now();
  const isCurrent = (): boolean => !context.cache.problems().some(({ kind }) => kind.kind === Machine.kind);
  const awakeSinceMs = clocks.awakeSince(context.clock, isCurrent);
  const needed = (): boolean => context.cache.list(WorkerPool).length > 0;
  clocks.keepWatching(context.clock, context.signal, { needed, isCurrent });
  const seen = observe(pool, context.cache, nowMs, awakeSinceMs);
  const cooling = coolDowns(pool, seen, nowMs);
  const observed = cluster === undefined ? seen : withRoom(pool, cluster, seen, cooling, sources, context.cache, nowMs);
  const former = formerMembers(pool, context.cache);
  const leaving = former.map((deployment) => observeFormer(deployment, context.cache));
  const recoveredAt = new Map([...cooling].map(([name, { sinceMs }]) => [name, sinceMs]));
  const returnAfterMs = seconds(pool.spec.overflow?.returnAfterSeconds, DEFAULT_RETURN_MS);
  const plan = planPool({
    replicas: pool.spec.replicas ?? 1,
    strategy: pool.spec.strategy ?? "Cheapest",
    members: [...observed, ...leaving],
    maxUnavailable: pool.spec.overflow?.maxUnavailable ?? 1,
    returnAfterMs,
    nowMs,
    recoveredAt,
  });
  if (paused.status !== "True" && cluster !== undefined && cluster.metadata.deletionTimestamp === undefined) {
    await ensureOwner(pool, cluster, context);
    await markExpendable(plan, [...observed, ...leaving], context);
    await ensureDeployments(pool, plan, context);
    await shrinkFormer(former, plan, context);
  }
  const { status, recheckMs } = poolStatus({
    pool,
    observed,
    leaving,
    plan,
    paused,
    cluster,
    cooling,
    returnAfterMs,
    nowMs,
  });
  await context.ensureStatus(
    {
      apiVersion: WorkerPool.apiVersion,
      kind: WorkerPool.kind,
      metadata: { namespace: request.namespace, name: request.name },
      status,
    } as WorkerPool,
    context.cache.get(WorkerPool, request),
  );
  return soonest(
    nextLook(observed, recoveredAt, returnAfterMs, nowMs),
    recheckMs === undefined ? done() : requeueAfter(recheckMs),
  );
}

const seconds = (value: number | undefined, fallbackMs: number): number =>
  value === undefined ? fallbackMs : value * 1000;

function observe(pool: WorkerPool, cache: Cache, nowMs: number, awakeSinceMs: number): MemberObservation[] {
  const namespace = pool.metadata.namespace ?? "";
  const after = pool.spec.overflow?.afterSeconds;
  return pool.spec.members.map((member) => {
    const name = deploymentName(pool, member.name);
    const deployment = cache.get(MachineDeployment, { namespace, name });
    const machines = cache.byIndex(Machine, MACHINES_BY_DEPLOYMENT, `${namespace}/${name}`);
    // A member that was found late before a restart does not recover by it.
    const wasLate = pool.status?.members?.find((status) => status.name === member.name)?.state === "Unhealthy";
    const since = wasLate ? undefined : awakeSinceMs;
    return observeMember(member, deployment, machines, after === undefined ? undefined : after * 1000, nowMs, since);
  });
}

/** Cool-down is for members that failed on request: announced capacity is used immediately. */
function withRoom(
  pool: WorkerPool,
  cluster: Cluster,
  observed: readonly MemberObservation[],
  cooling: ReadonlyMap<string, CoolDown>,
  sources: readonly CapacitySource[],
  cache: Cache,
  nowMs: number,
): MemberObservation[] {
  const namespace = pool.metadata.namespace ?? "";
  return observed.map((seen) => {
    const member = pool.spec.members.find(({ name }) => name === seen.name);
    if (member === undefined || !usesRoom(cooling.get(seen.name)?.cause)) return seen;
    const living = cache
      .byIndex(Machine, MACHINES_BY_DEPLOYMENT, `${namespace}/${deploymentName(pool, seen.name)}`)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const room = roomOf({ member, pool, cluster, current: seen.current, living }, sources, cache, nowMs);
    return { ...seen, room };
  });
}

/** The pool goes when its Cluster goes: a later one of that name is not for it to fill. A move finds it by its owner, too. */
async function ensureOwner(pool: WorkerPool, cluster: Cluster, context: ReconcileContext): Promise<void> {
  const { metadata } = pool;
  const ownerReferences = [...addOwnerReference(metadata.ownerReferences, ownerReference(cluster))];
  const labels = { ...metadata.labels, [CLUSTER_NAME_LABEL]: pool.spec.clusterName };
  await writeChanges(context.client, pool, { ...pool, metadata: { ...metadata, labels, ownerReferences } });
}

/** Ordinary MachineDeployments, whose replicas only the pool writes. */
async function ensureDeployments(pool: WorkerPool, plan: PoolPlan, context: ReconcileContext): Promise<void> {
  const { namespace } = pool.metadata;
  const owner = ownerReference(pool, { controller: true });
  await Promise.all(
    pool.spec.members.map(async (member) => {
      const name = deploymentName(pool, member.name);
      const labels = { [CLUSTER_NAME_LABEL]: pool.spec.clusterName, [POOL_LABEL]: pool.metadata.name ?? "" };
      const machineLabels = { ...pool.spec.template.metadata?.labels, ...labels, [DEPLOYMENT_NAME_LABEL]: name };
      const { version } = pool.spec.template.spec;
      const annotations = pool.spec.template.metadata?.annotations;
      const deadline = pool.metadata.annotations?.[PROGRESS_DEADLINE_ANNOTATION];
      const desired = {
        apiVersion: MachineDeployment.apiVersion,
        kind: MachineDeployment.kind,
        metadata: {
          namespace,
          name,
          labels,
          ...(deadline === undefined ? {} : { annotations: { [PROGRESS_DEADLINE_ANNOTATION]: deadline } }),
          ownerReferences: [owner],
        },
        spec: {
          clusterName: pool.spec.clusterName,
          replicas: plan.members.find((planned) => planned.name === member.name)?.desired ?? 0,
          selector: { matchLabels: { [CLUSTER_NAME_LABEL]: pool.spec.clusterName, [DEPLOYMENT_NAME_LABEL]: name } },
          template: {
            metadata: { labels: machineLabels, annotations },
            spec: {
              clusterName: pool.spec.clusterName,
              bootstrap: member.bootstrap,
              infrastructureRef: member.infrastructureRef,
              version,
              failureDomain: member.failureDomain,
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
}

/** Where replicas are taken away, machines that work are the last to go. */
async function markExpendable(
  plan: PoolPlan,
  observed: readonly MemberObservation[],
  context: ReconcileContext,
): Promise<void> {
  for (const { name, current, expendable } of observed) {
    const fewer = current - (plan.members.find((planned) => planned.name === name)?.desired ?? 0);
    for (const machine of expendable.slice(0, Math.max(0, fewer))) {
      if (machine.metadata.annotations?.[DELETE_MACHINE_ANNOTATION] !== undefined) continue;
      await context.client.patch(machine, { metadata: { annotations: { [DELETE_MACHINE_ANNOTATION]: "" } } });
    }
  }
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
