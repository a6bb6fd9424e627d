import {
  addOwnerReference,
  findCondition,
  type LabelSelector,
  ownerReference,
  selectorOrProblem,
} from "@capstan/apimachinery";
import {
  Cluster,
  conditionsOf,
  labelValue,
  Machine,
  MachineDeployment,
  MachineSet,
  pausedCondition,
  TEMPLATE_HASH_LABEL,
} from "@capstan/capi";
import {
  done,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requeueAfter,
  soonest,
  writeChanges,
} from "@capstan/runtime";
import { clusterKey } from "../cluster/indexes.ts";
import type { Coalescer } from "../shared/coalesce.ts";
import { ensureMetadata } from "../shared/ensure-metadata.ts";
import { BY_CONTROLLER, BY_DEPLOYMENT, BY_ORPHAN, controllerKey } from "../shared/indexes.ts";
import { machineDeploymentStatus } from "./machine-deployment.status.ts";
import {
  currentRevision,
  desiredMachineSet,
  findCurrentSet,
  newSetIdentity,
  rolloutLimits,
  SET_FIELD_MANAGER,
} from "./machine-sets.ts";
import { REVISION_ANNOTATION, revisionOf } from "./revision.ts";
import { historyLimit, rollBack } from "./rollback.ts";
import { type PlannedSet, planRollout, type RolloutPlan } from "./rollout-planner.ts";
import { untilRollout } from "./template-diff.ts";

const FINALIZER = "cluster.x-k8s.io/machinedeployment";

/** Reconciles a MachineDeployment: ensures a MachineSet for its template and scales it against the older ones. */
export async function reconcileMachineDeployment(
  request: Request,
  context: ReconcileContext,
  coalescer: Coalescer,
): Promise<Result> {
  const deployment = context.cache.get(MachineDeployment, request);
  if (deployment === undefined) return done();
  const key = clusterKey(request.namespace, request.name);
  const parts = machinesOf(request, context).length;
  const pause = coalescer.pause(key, parts, context.clock);
  if (pause > 0) return requeueAfter(pause);
  coalescer.passed(key, parts, context.clock);
  const cluster = context.cache.get(Cluster, { namespace: request.namespace, name: deployment.spec.clusterName });
  const paused = pausedCondition(deployment, cluster);
  const deleting = deployment.metadata.deletionTimestamp !== undefined;
  const selector = selectorOrProblem(deployment.spec.selector, "spec.selector");
  let blocked: string[] = [];
  if (paused.status !== "True") {
    if (deleting) {
      if (await deleteDeployment(deployment, context)) return done();
    } else if (cluster === undefined) {
      blocked = [`Cluster ${deployment.spec.clusterName} does not exist; create it or correct spec.clusterName`];
    } else if (selector.problem !== undefined) {
      blocked = [selector.problem];
    } else {
      const { clusterName } = deployment.spec;
      const held = await ensureMetadata(
        context,
        deployment,
        FINALIZER,
        clusterName,
        cluster,
        firstRevision(deployment, context),
      );
      await adopt(held, selector, context);
      if (await advance(held, context)) return requeueAfter(0);
    }
  }
  return await writeStatus(request, context, paused, deleting, blocked);
}

async function writeStatus(
  request: Request,
  context: ReconcileContext,
  paused: ReturnType<typeof pausedCondition>,
  deleting: boolean,
  blocked: string[],
): Promise<Result> {
  const current = context.cache.get(MachineDeployment, request);
  if (current === undefined) return done();
  const sets = setsOf(current, context);
  const nowMs = context.clock.now();
  const { status, recheckMs } = machineDeploymentStatus({
    deployment: current,
    sets,
    machines: machinesOf(request, context),
    paused,
    deleting,
    blocked: [...blocked, ...blockedSets(sets)],
    nowMs,
  });
  await context.ensureStatus(
    {
      apiVersion: MachineDeployment.apiVersion,
      kind: MachineDeployment.kind,
      metadata: { namespace: request.namespace, name: request.name },
      status,
    } as MachineDeployment,
    current,
  );
  const until = untilRollout(current, nowMs);
  return soonest(
    until === undefined || until === 0 ? done() : requeueAfter(until),
    recheckMs === undefined ? done() : requeueAfter(recheckMs),
  );
}

function machinesOf({ namespace, name }: Request, context: ReconcileContext): Machine[] {
  return context.cache.byIndex(Machine, BY_DEPLOYMENT, clusterKey(namespace, labelValue(name)));
}

function setsOf(deployment: MachineDeployment, context: ReconcileContext): MachineSet[] {
  return context.cache.byIndex(MachineSet, BY_CONTROLLER, controllerKey(deployment));
}

/** Why the sets cannot create Machines, from their conditions. */
function blockedSets(sets: readonly MachineSet[]): string[] {
  return sets
    .map((set) => findCondition(conditionsOf(set), "ScalingUp"))
    .filter((condition) => condition?.status === "True" && condition.message.includes("is blocked because:"))
    .flatMap((condition) => (condition?.message ?? "").split("\n").slice(1))
    .map((line) => line.replace(/^\* /, ""));
}

/** Deletes the sets and waits for them; true once the deployment is deleted. */
async function deleteDeployment(deployment: MachineDeployment, context: ReconcileContext): Promise<boolean> {
  const sets = setsOf(deployment, context);
  if (sets.length === 0) {
    await releaseFinalizer(context.client, deployment, FINALIZER);
    return true;
  }
  for (const set of sets) if (set.metadata.deletionTimestamp === undefined) await context.client.delete(set);
  return false;
}

/** Takes over sets without controller that the selector matches. */
async function adopt(deployment: MachineDeployment, selector: LabelSelector, context: ReconcileContext): Promise<void> {
  if (selector.empty) return;
  const key = clusterKey(deployment.metadata.namespace ?? "", deployment.spec.clusterName);
  for (const set of context.cache.byIndex(MachineSet, BY_ORPHAN, key)) {
    if (set.metadata.deletionTimestamp !== undefined || !selector.matches(set.metadata.labels)) continue;
    const reference = ownerReference(deployment, { controller: true });
    const ownerReferences = [...addOwnerReference(set.metadata.ownerReferences, reference)];
    await writeChanges(context.client, set, { ...set, metadata: { ...set.metadata, ownerReferences } });
    context.recorder.event(
      deployment,
      "Normal",
      "SuccessfulAdopt",
      "AdoptMachineSet",
      `Adopted MachineSet ${set.metadata.name}`,
    );
  }
}

/** One step of the rollout. Returns true if the deployment itself changed and must be reconciled again. */
async function advance(deployment: MachineDeployment, context: ReconcileContext): Promise<boolean> {
  const desired = deployment.spec.replicas;
  if (desired === undefined) return false;
  const sets = setsOf(deployment, context).filter((set) => set.metadata.deletionTimestamp === undefined);
  const existing = findCurrentSet(deployment, sets, context.clock.now());
  if (await rollBack(deployment, sets, existing, context)) return true;
  const revision = currentRevision(existing, sets);
  const limits = rolloutLimits(deployment);
  const onDelete = deployment.spec.rollout?.strategy?.type === "OnDelete";
  const write = async (set: MachineSet, replicas: number, isCurrent: boolean): Promise<MachineSet> =>
    await context.client.ensure(
      desiredMachineSet({
        deployment,
        identity: { name: set.metadata.name ?? "", hash: set.metadata.labels?.[TEMPLATE_HASH_LABEL] ?? "" },
        existing: set,
        replicas,
        revision: isCurrent ? revision : revisionOf(set),
        frozen: onDelete && !isCurrent,
        desired,
        maxSurge: limits.maxSurge,
      }),
      set === fresh ? undefined : set,
      { fieldManager: SET_FIELD_MANAGER },
    );
  const fresh =
    existing === undefined && deployment.spec.paused !== true ? newSet(deployment, revision, context) : undefined;
  const current = existing ?? fresh;
  const all = fresh === undefined ? sets : [...sets, fresh];
  const plan = planRollout({
    strategy: onDelete ? "OnDelete" : "RollingUpdate",
    paused: deployment.spec.paused === true,
    desired,
    ...limits,
    sets: all.map((set) => plannedSet(set, set === current)),
  });
  // Scale down first: after a crash in between there are too few Machines rather than too many.
  for (const set of shrinkingFirst(all, plan)) {
    await write(set, plan.replicas.get(set.metadata.name ?? "") ?? 0, set === current);
    if (set === fresh) noteCreated(deployment, set, context);
  }
  for (const note of plan.notes)
    context.recorder.event(deployment, "Normal", "SuccessfulScale", "ScaleMachineSet", note);
  await noteRevision(deployment, current === undefined ? 0 : revision, context);
  await forgetHistory(deployment, current, context);
  return false;
}

function plannedSet(set: MachineSet, current: boolean): PlannedSet {
  return {
    name: set.metadata.name ?? "",
    current,
    replicas: set.spec.replicas ?? 0,
    machines: set.status?.replicas ?? 0,
    available: set.status?.availableReplicas ?? 0,
    createdAt: Date.parse(set.metadata.creationTimestamp ?? "") || 0,
  };
}

function shrinkingFirst(sets: readonly MachineSet[], plan: RolloutPlan): MachineSet[] {
  const grows = (set: MachineSet): boolean =>
    (plan.replicas.get(set.metadata.name ?? "") ?? 0) > (set.spec.replicas ?? 0);
  return [...sets].sort((a, b) => Number(grows(a)) - Number(grows(b)));
}

/** A set that is about to be created: without replicas, until the plan gives it some. */
function newSet(deployment: MachineDeployment, revision: number, context: ReconcileContext): MachineSet {
  return desiredMachineSet({
    deployment,
    identity: newSetIdentity(deployment, context.random),
    existing: undefined,
    replicas: 0,
    revision,
    frozen: false,
    desired: deployment.spec.replicas ?? 0,
    maxSurge: rolloutLimits(deployment).maxSurge,
  });
}

function noteCreated(deployment: MachineDeployment, set: MachineSet, context: ReconcileContext): void {
  const note = `Created MachineSet ${set.metadata.name}`;
  context.recorder.event(deployment, "Normal", "SuccessfulCreate", "CreateMachineSet", note);
}

/** The revision that noteRevision would write once the first set exists; setting it now saves a write. */
function firstRevision(deployment: MachineDeployment, context: ReconcileContext): Record<string, string> {
  const begins =
    revisionOf(deployment) === 0 &&
    deployment.spec.replicas !== undefined &&
    deployment.spec.paused !== true &&
    setsOf(deployment, context).length === 0;
  return begins ? { [REVISION_ANNOTATION]: "1" } : {};
}

async function noteRevision(deployment: MachineDeployment, revision: number, context: ReconcileContext): Promise<void> {
  if (revision === 0 || revisionOf(deployment) === revision) return;
  await context.client.patch(deployment, { metadata: { annotations: { [REVISION_ANNOTATION]: String(revision) } } });
}

/** Old sets without Machines are history to go back to; beyond the limit the oldest go. */
async function forgetHistory(
  deployment: MachineDeployment,
  current: MachineSet | undefined,
  context: ReconcileContext,
): Promise<void> {
  const history = setsOf(deployment, context)
    .filter(
      (set) =>
        set.metadata.name !== current?.metadata.name &&
        set.metadata.deletionTimestamp === undefined &&
        (set.spec.replicas ?? 0) === 0 &&
        set.status?.replicas === 0 &&
        set.status.observedGeneration === set.metadata.generation,
    )
    .sort((a, b) => revisionOf(b) - revisionOf(a));
  for (const set of history.slice(historyLimit(deployment))) {
    await context.client.delete(set);
    context.recorder.event(
      deployment,
      "Normal",
      "SuccessfulDelete",
      "DeleteMachineSet",
      `Deleted MachineSet ${set.metadata.name}`,
    );
  }
}
