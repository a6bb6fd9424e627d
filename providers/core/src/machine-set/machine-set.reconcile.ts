import { addOwnerReference, ownerReference } from "@capstan/apimachinery";
import {
  completeMachine,
  createMachines,
  isIncomplete,
  Machine,
  MachineSet,
  type MachineSync,
  newMachineName,
  pausedCondition,
  planProblem,
} from "@capstan/capi";
import {
  done,
  inParallel,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requeueAfter,
  writeChanges,
} from "@capstan/runtime";
import type { Coalescer } from "../shared/coalesce.ts";
import { ensureMetadata } from "../shared/ensure-metadata.ts";
import { BY_CONTROLLER, controllerKey } from "../shared/indexes.ts";
import { type DeletionOrder, machinesToDelete } from "./delete-priority.ts";
import { DEFAULT_NAMING, machineSetPlan } from "./machine-plan.ts";
import { machineSetStatus } from "./machine-set.status.ts";
import { type MachineSetScope, readMachineSet } from "./machine-set-scope.ts";
import { preflightProblems } from "./preflight.ts";
import { remediate } from "./remediate.ts";

/** Finalizer of a MachineSet; removed once its Machines are deleted. */
export const MACHINE_SET_FINALIZER = "cluster.x-k8s.io/machineset";
/** Annotation on a MachineSet that keeps it from creating Machines. */
export const DISABLE_CREATE_ANNOTATION = "cluster.x-k8s.io/disable-machine-create";
const PARALLEL = 50;
const PREFLIGHT_RETRY_MS = 15_000;

/** State that the MachineSet controller keeps between reconciles. */
export interface MachineSetDeps {
  sync: MachineSync;
  coalescer: Coalescer;
}

/** Reconciles a MachineSet: creates or deletes Machines until there are as many as desired, and updates them in place. */
export async function reconcileMachineSet(
  request: Request,
  context: ReconcileContext,
  deps: MachineSetDeps,
): Promise<Result> {
  const set = context.cache.get(MachineSet, request);
  if (set === undefined) return done();
  const key = `${request.namespace}/${request.name}`;
  const parts = context.cache.byIndex(Machine, BY_CONTROLLER, controllerKey(set)).length;
  const pause = deps.coalescer.pause(key, parts, context.clock);
  if (pause > 0) return requeueAfter(pause);
  const scope = await readMachineSet(set, context);
  const paused = pausedCondition(set, scope.cluster);
  const resting = paused.status === "True";
  const deleting = set.metadata.deletionTimestamp !== undefined;
  let progress: Progress = { blocked: [] };
  if (!resting) progress = deleting ? await deleteSet(scope, context) : await advance(scope, context, deps);
  if (progress.gone === true) {
    deps.coalescer.passed(key, 0, context.clock);
    return done();
  }
  const current = context.cache.get(MachineSet, request);
  if (current === undefined) return done();
  // Own writes are in the cache: what was created and deleted in this pass counts.
  const machines = (await readMachineSet(current, context)).machines;
  const status = machineSetStatus({
    set: current,
    machines,
    paused,
    deleting,
    blocked: progress.blocked,
    nowMs: context.clock.now(),
  });
  await context.ensureStatus(
    {
      apiVersion: MachineSet.apiVersion,
      kind: MachineSet.kind,
      metadata: { namespace: request.namespace, name: request.name },
      status,
    } as MachineSet,
    current,
  );
  deps.coalescer.passed(key, machines.length, context.clock);
  if (progress.error !== undefined) throw progress.error.cause;
  return progress.retryMs === undefined ? done() : requeueAfter(progress.retryMs);
}

interface Progress {
  gone?: boolean;
  /** Why Machines cannot be created. */
  blocked: string[];
  retryMs?: number;
  /** Thrown after the status is written. */
  error?: { cause: unknown };
}

/** Deletes the Machines and waits for them; then the set may go. */
async function deleteSet({ set, machines }: MachineSetScope, context: ReconcileContext): Promise<Progress> {
  if (machines.length === 0) {
    await releaseFinalizer(context.client, set, MACHINE_SET_FINALIZER);
    return { gone: true, blocked: [] };
  }
  const living = machines.filter((machine) => machine.metadata.deletionTimestamp === undefined);
  await inParallel(living, PARALLEL, (machine) => context.client.delete(machine));
  return { blocked: [] };
}

async function advance(scope: MachineSetScope, context: ReconcileContext, deps: MachineSetDeps): Promise<Progress> {
  const { set, cluster } = scope;
  if (cluster === undefined)
    return { blocked: [`Cluster ${set.spec.clusterName} does not exist; create it or correct spec.clusterName`] };
  if (scope.selectorProblem !== undefined) return { blocked: [scope.selectorProblem] };
  await ensureMetadata(context, set, MACHINE_SET_FINALIZER, set.spec.clusterName, cluster);
  await ownTemplates(scope, context);
  if (await adopt(scope, context)) return { blocked: [] };
  await remediate(scope, context);
  const plan = machineSetPlan(scope);
  const incomplete = scope.machines.filter((machine) => isIncomplete(plan, machine));
  await inParallel(incomplete, PARALLEL, (machine) => completeMachine(plan, machine, context));
  await deps.sync.run(plan, scope.machines, context);
  return await scale(scope, context);
}

/** Templates belong to the Cluster, so that they are moved with it and go with it. */
async function ownTemplates(scope: MachineSetScope, context: ReconcileContext): Promise<void> {
  const { cluster } = scope;
  if (cluster === undefined) return;
  for (const part of [scope.infrastructure, scope.bootstrap]) {
    if (part?.template.state !== "found") continue;
    const { object } = part.template;
    if (object.metadata.deletionTimestamp !== undefined) continue;
    const ownerReferences = [...addOwnerReference(object.metadata.ownerReferences, ownerReference(cluster))];
    await writeChanges(context.client, object, { ...object, metadata: { ...object.metadata, ownerReferences } });
  }
}

/** Takes over Machines without controller that the selector matches; true when there were any. */
async function adopt({ set, orphans }: MachineSetScope, context: ReconcileContext): Promise<boolean> {
  const mine = orphans.filter((machine) => machine.metadata.deletionTimestamp === undefined);
  await inParallel(mine, PARALLEL, async (machine) => {
    const reference = ownerReference(set, { controller: true });
    const ownerReferences = [...addOwnerReference(machine.metadata.ownerReferences, reference)];
    await writeChanges(context.client, machine, { ...machine, metadata: { ...machine.metadata, ownerReferences } });
    context.recorder.event(
      set,
      "Normal",
      "SuccessfulAdopt",
      "AdoptMachine",
      `Adopted Machine ${machine.metadata.name}`,
    );
  });
  return mine.length > 0;
}

/** Creates missing Machines and deletes surplus ones. */
async function scale(scope: MachineSetScope, context: ReconcileContext): Promise<Progress> {
  const { set, machines } = scope;
  const desired = set.spec.replicas;
  if (desired === undefined) return { blocked: [] };
  const missing = desired - machines.length;
  if (missing < 0) {
    await deleteSurplus(set, machines, -missing, context);
    return { blocked: [] };
  }
  const plan = machineSetPlan(scope);
  const problem = planProblem(plan);
  // Reported early: the next Machine to be replaced could not be created.
  if (missing === 0) return { blocked: problem === undefined ? [] : [problem] };
  if (set.metadata.annotations?.[DISABLE_CREATE_ANNOTATION] === "true")
    return { blocked: [`annotation ${DISABLE_CREATE_ANNOTATION} is set`] };
  // A watch reports when the template appears.
  if (problem !== undefined) return { blocked: [problem] };
  const problems = preflightProblems(scope);
  if (problems.length > 0) return { blocked: problems, retryMs: PREFLIGHT_RETRY_MS };
  try {
    const naming = set.spec.machineNaming?.template ?? DEFAULT_NAMING;
    const values = { cluster: { name: set.spec.clusterName }, machineSet: { name: set.metadata.name ?? "" } };
    const names = Array.from({ length: missing }, () => ({
      name: newMachineName(context, set.metadata.namespace, naming, values),
    }));
    await createMachines(plan, names, context);
    return { blocked: [] };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    context.recorder.event(set, "Warning", "FailedCreate", "CreateMachine", `Failed to create Machines: ${message}`);
    return { blocked: [`a Machine could not be created: ${message}`], error: { cause } };
  }
}

async function deleteSurplus(
  set: MachineSet,
  machines: readonly Machine[],
  count: number,
  context: ReconcileContext,
): Promise<void> {
  const order = (set.spec.deletion?.order ?? "Random") as DeletionOrder;
  const chosen = machinesToDelete(machines, count, order, context.clock.now());
  await inParallel(
    chosen.filter((machine) => machine.metadata.deletionTimestamp === undefined),
    PARALLEL,
    async (machine) => {
      await context.client.delete(machine);
      context.recorder.event(
        set,
        "Normal",
        "SuccessfulDelete",
        "DeleteMachine",
        `Deleted Machine ${machine.metadata.name}`,
      );
    },
  );
}
