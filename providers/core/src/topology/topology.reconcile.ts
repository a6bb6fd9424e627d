import { isReason } from "@capstan/apimachinery";
import {
  Cluster,
  ClusterClass,
  conditionsOf,
  DEPLOYMENT_NAME_LABEL,
  field,
  labelValue,
  Machine,
  namedTarget,
  pausedCondition,
  resolveGranted,
  withTransitionTimes,
} from "@capstan/capi";
import { done, ensureStatusIfPresent, type ReconcileContext, type Request, type Result } from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";
import { runningVersions } from "../machine-set/preflight.ts";
import { applyState, removeLeftovers } from "./apply-state.ts";
import {
  type Blueprint,
  type CurrentState,
  readBlueprint,
  readCurrent,
  type Topology,
  TopologyProblem,
} from "./blueprint.ts";
import {
  BEFORE_UPGRADE_HOOK,
  DEFER_UPGRADE_ANNOTATION,
  HOLD_UPGRADE_ANNOTATION,
  UPGRADE_CONCURRENCY_ANNOTATION,
} from "./constants.ts";
import { desiredState } from "./desired-state.ts";
import { type TopologyOutcome, topologyReconciled } from "./topology.conditions.ts";
import { lowestVersion, planVersions, type VersionPlan, type WorkerVersion } from "./versions.ts";

/** Reconciles the objects of a Cluster with its topology and ClusterClass. */
export async function reconcileTopology(request: Request, context: ReconcileContext): Promise<Result> {
  const cluster = context.cache.get(Cluster, request);
  const topology = cluster?.spec?.topology;
  if (cluster === undefined || topology === undefined) return done();
  const outcome = await work(cluster, topology, context);
  await writeCondition(cluster, outcome, context);
  return done();
}

async function work(cluster: Cluster, topology: Topology, context: ReconcileContext): Promise<TopologyOutcome> {
  const paused = pausedCondition(cluster, cluster);
  if (paused.status === "True") return { state: "paused", message: paused.message };
  if (cluster.metadata.deletionTimestamp !== undefined) return { state: "deleting" };
  try {
    return await build(cluster, topology, context);
  } catch (error) {
    if (error instanceof TopologyProblem)
      return { state: "problem", reason: "ReconcileFailed", message: error.message };
    // A rejected request nearly always means that a class or patch must be corrected, so a condition reports it.
    if (isReason(error, "Invalid", "BadRequest", "Forbidden"))
      return { state: "problem", reason: "ReconcileFailed", message: error.message };
    throw error;
  }
}

async function build(cluster: Cluster, topology: Topology, context: ReconcileContext): Promise<TopologyOutcome> {
  const key = namedTarget(cluster, topology.classRef);
  const clusterClass = context.cache.get(ClusterClass, key);
  // The grant covers the templates too: a class names templates of its own namespace only.
  const granted = resolveGranted(cluster, topology.classRef, "spec.topology.classRef", clusterClass);
  if ("problem" in granted) throw new TopologyProblem(granted.problem);
  if (clusterClass === undefined)
    throw new TopologyProblem(`ClusterClass ${key.namespace}/${key.name} does not exist; create it`);
  if (clusterClass.status?.observedGeneration !== clusterClass.metadata.generation)
    return {
      state: "problem",
      reason: "ClusterClassNotReconciled",
      message: `ClusterClass not reconciled. If this condition persists please check ClusterClass status. A ClusterClass is reconciled if .status.observedGeneration == .metadata.generation is true. If this is not the case either ClusterClass reconciliation failed or the ClusterClass is paused`,
    };
  const blueprint = await readBlueprint(cluster, topology, clusterClass, context);
  const current = await readCurrent(cluster, context);
  const versions = planVersions({
    wanted: topology.version,
    controlPlane: controlPlaneVersions(current),
    workers: workerVersions(blueprint, current, context),
    steps: clusterClass.spec.kubernetesVersions ?? [],
    concurrency: concurrencyOf(cluster),
    hooks: Object.keys(cluster.metadata.annotations ?? {})
      .filter((key) => key.startsWith(BEFORE_UPGRADE_HOOK))
      .sort(),
  });
  const desired = await desiredState({
    blueprint,
    current,
    versions,
    clock: context.clock,
    live: (template, name) =>
      name === undefined
        ? undefined
        : context.cache.get(template.kind, { namespace: cluster.metadata.namespace, name }),
  });
  await applyState(cluster, desired, context);
  await removeLeftovers(blueprint, current, desired, context);
  return {
    state: "done",
    wanted: topology.version,
    controlPlaneKind: desired.controlPlane.kind,
    versions: byName(versions, current),
  };
}

/** People know groups of workers by the names of their objects. */
function byName(versions: VersionPlan, current: CurrentState): VersionPlan {
  const named = (list: readonly string[]): string[] =>
    list.map((name) => (current.deployments.get(name) ?? current.pools.get(name))?.metadata.name ?? name);
  return {
    ...versions,
    upgrading: named(versions.upgrading),
    pending: named(versions.pending),
    deferred: named(versions.deferred),
  };
}

function controlPlaneVersions({
  controlPlane,
}: CurrentState): { spec: string; status: string | undefined } | undefined {
  if (controlPlane === undefined) return undefined;
  const spec = field(controlPlane.object, "spec", "version");
  if (typeof spec !== "string") return undefined;
  // As long as one replica runs an older version the control plane has not arrived.
  return { spec, status: lowestVersion(runningVersions(controlPlane.object)) };
}

function workerVersions(
  { cluster, topology }: Blueprint,
  current: CurrentState,
  context: ReconcileContext,
): WorkerVersion[] {
  const { namespace = "", name = "" } = cluster.metadata;
  const machines = context.cache.byIndex(Machine, BY_CLUSTER, clusterKey(namespace, name));
  let held = false;
  const deployments = (topology.workers?.machineDeployments ?? []).map((one): WorkerVersion => {
    const annotations = one.metadata?.annotations ?? {};
    held ||= annotations[HOLD_UPGRADE_ANNOTATION] !== undefined;
    const existing = current.deployments.get(one.name);
    const version = existing?.spec.template.spec.version;
    const label = labelValue(existing?.metadata.name ?? "");
    return {
      name: one.name,
      current: version,
      upgrading: machines.some(
        (machine) =>
          existing !== undefined &&
          machine.metadata.labels?.[DEPLOYMENT_NAME_LABEL] === label &&
          machine.spec.version !== version,
      ),
      deferred: held || annotations[DEFER_UPGRADE_ANNOTATION] !== undefined,
    };
  });
  const pools = (topology.workers?.machinePools ?? []).map((one): WorkerVersion => {
    const existing = current.pools.get(one.name);
    const { replicas = 0, upToDateReplicas = replicas } = existing?.status ?? {};
    return {
      name: one.name,
      current: existing?.spec.template.spec.version,
      upgrading: upToDateReplicas < replicas,
      deferred: one.metadata?.annotations?.[DEFER_UPGRADE_ANNOTATION] !== undefined,
    };
  });
  return [...deployments, ...pools];
}

function concurrencyOf(cluster: Cluster): number {
  const value = Number(cluster.metadata.annotations?.[UPGRADE_CONCURRENCY_ANNOTATION] ?? 1);
  return Number.isInteger(value) && value >= 1 ? value : 1;
}

async function writeCondition(cluster: Cluster, outcome: TopologyOutcome, context: ReconcileContext): Promise<void> {
  const { namespace, name = "", generation } = cluster.metadata;
  const live = context.cache.get(Cluster, { namespace, name });
  if (live === undefined) return;
  const conditions = withTransitionTimes(
    [topologyReconciled(outcome)],
    conditionsOf(live),
    context.clock.now(),
    generation,
  );
  const desired = {
    apiVersion: Cluster.apiVersion,
    kind: Cluster.kind,
    metadata: { namespace, name },
    status: { conditions },
  } as unknown as Cluster;
  await ensureStatusIfPresent(context, desired, live);
}
