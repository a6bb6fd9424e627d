import {
  done,
  ensureFinalizer,
  hasFinalizer,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requeueAfter,
} from "@capstan/runtime";
import { Secret } from "../contract/builtin-kinds.ts";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import { pausedCondition } from "../contract/paused.ts";
import type { Cluster } from "../kinds/cluster.ts";
import type { Machine } from "../kinds/machine.ts";
import { MachinePool } from "../kinds/machine-pool.ts";
import type { KindDefinition } from "../schema/kind.ts";
import type { WorkloadClusters } from "../workload/types.ts";
import { BY_CLUSTER_LABEL } from "./cluster-reconciler.ts";
import { finalizerOf } from "./finalizer.ts";
import type { AnyKindDefinition, InfraClusterObject, InfraMachineObject } from "./infra-kinds.ts";
import { failed, type Outcome, wait } from "./outcome.ts";
import { clusterOfMachine, ownerMachine } from "./owners.ts";
import {
  deletingCondition,
  errorCondition,
  keptStatus,
  nextLook,
  readyCondition,
  reportProblem,
  type Waiting,
  writeStatus,
} from "./report.ts";
import type { BootstrapData, MachineRemoval, MachineScope, ProviderScope } from "./scope.ts";

/** The referenced Secret with bootstrap data does not exist (yet). */
const SECRET_RECHECK_MS = 5_000;

/** What a provider says about its machines. */
export interface MachineDefinition<M extends InfraMachineObject, B, C extends InfraClusterObject> {
  readonly kind: KindDefinition<M>;
  readonly template: AnyKindDefinition;
  /** Called until it reports `ready`, and again on every change; must be safe to repeat at any point. */
  ensure(scope: MachineScope<M, B, C>): Promise<Outcome>;
  /** Called until it reports `gone`; must be safe to repeat, also when nothing was ever made. */
  remove(scope: MachineRemoval<M, B>): Promise<Outcome>;
  /** Called instead of the others while a machine or its Cluster is paused, for providers that pause what the machine uses. */
  paused?(scope: MachineRemoval<M, B>): Promise<void>;
  /** Calls `changed` when the outside world changed; returns a function that ends it. Without it there are only rechecks. */
  watch?(backend: B, changed: (machine: Request) => void): () => void;
}

/** Reconciles one infrastructure machine by one step. */
export async function reconcileInfraMachine<M extends InfraMachineObject, B, C extends InfraClusterObject>(
  request: Request,
  context: ReconcileContext,
  definition: MachineDefinition<M, B, C>,
  clusterKind: KindDefinition<C> | undefined,
  provider: ProviderScope<B>,
  workload: WorkloadClusters,
): Promise<Result> {
  const object = context.cache.get<M>(definition.kind, request);
  if (object === undefined) return done();
  const machine = ownerMachine(context.cache, object);
  const cluster = clusterOfMachine(context.cache, object, machine);
  const paused = pausedCondition(object, cluster);
  const report = (fields: object, ...conditions: Parameters<typeof writeStatus>[2]): Promise<void> =>
    writeStatus(
      context.cache.get<M>(definition.kind, request) ?? object,
      { ...keptStatus(object), ...fields },
      [...conditions, paused],
      context,
    );
  if (paused.status === "True") {
    await definition.paused?.({ ...provider, object, machine, cluster });
    await report({});
    return done();
  }
  if (object.metadata.deletionTimestamp !== undefined) {
    if (!hasFinalizer(object, finalizerOf(definition.kind))) return done();
    const outcome = await definition.remove({ ...provider, object, machine, cluster });
    if (outcome.type === "gone") {
      await releaseFinalizer(context.client, object, finalizerOf(definition.kind), context.signal);
      return done();
    }
    const deleting = deletingCondition(outcome);
    reportProblem(object, outcome, context, deleting);
    await report(outcome.status ?? {}, deleting, ...(outcome.conditions ?? []));
    return nextLook(outcome);
  }
  const early = missing(object, machine, cluster);
  if (early !== undefined || machine === undefined || cluster === undefined) {
    if (early !== undefined) await report({}, readyCondition(early), deletingCondition());
    return done();
  }
  await ensureFinalizer(context.client, object, finalizerOf(definition.kind), context.signal);
  const scope: MachineScope<M, B, C> = {
    ...provider,
    object,
    machine,
    cluster,
    infraCluster: ownInfraCluster(cluster, clusterKind, context),
    bootstrap: { data: () => bootstrapData(machine, context) },
    workload: workload.get({ namespace: request.namespace, name: machine.spec.clusterName }),
  };
  let outcome: Outcome;
  try {
    outcome = checked(object, await definition.ensure(scope));
  } catch (error) {
    if (error instanceof BootstrapDataMissingError) {
      await report({}, readyCondition(wait("WaitingForBootstrapData", error.message)), deletingCondition());
      return requeueAfter(SECRET_RECHECK_MS);
    }
    const thrown = errorCondition(error);
    reportProblem(object, "thrown", context, thrown);
    await report({}, thrown, deletingCondition());
    throw error;
  }
  if (outcome.type === "ready" && outcome.providerID !== undefined && object.spec?.providerID === undefined)
    await context.client.patch(object, { spec: { providerID: outcome.providerID } }, {}, context.signal);
  const isReady = readyCondition(outcome);
  reportProblem(object, outcome, context, isReady);
  await report(
    { ...provisioned(outcome), ...outcome.status },
    isReady,
    deletingCondition(),
    ...(outcome.conditions ?? []),
  );
  return nextLook(outcome);
}

/** What must exist before a provider is called, in the order in which Cluster API waits for it. */
function missing(
  object: InfraMachineObject,
  machine: Machine | undefined,
  cluster: Cluster | undefined,
): Waiting | undefined {
  const say = (reason: string, message: string): Waiting => ({ type: "wait", reason, message });
  if (machine === undefined) return say("WaitingForMachine", "Waiting for a Machine to own this object");
  if (cluster === undefined)
    return say("WaitingForCluster", `Waiting for Cluster ${machine.spec.clusterName}, which does not exist`);
  // A provisioned machine no longer needs any of this.
  if (object.status?.initialization?.provisioned === true) return undefined;
  if (cluster.status?.initialization?.infrastructureProvisioned !== true)
    return say("WaitingForClusterInfrastructureReady", "Waiting for the Cluster's infrastructure to be ready");
  if (machine.spec.bootstrap.dataSecretName === undefined)
    return cluster.status.initialization.controlPlaneInitialized === true || isControlPlane(machine)
      ? say("WaitingForBootstrapData", "Waiting for the bootstrap provider to provide bootstrap data")
      : say("WaitingForControlPlaneInitialized", "Waiting for the control plane to be initialized");
  return undefined;
}

function isControlPlane(machine: Machine): boolean {
  return machine.metadata.labels?.["cluster.x-k8s.io/control-plane"] !== undefined;
}

/** A machine with another provider ID is another machine: its Node would never match. */
function checked(object: InfraMachineObject, outcome: Outcome): Outcome {
  const known = object.spec?.providerID;
  if (outcome.type !== "ready" || outcome.providerID === undefined || known === undefined) return outcome;
  if (known === outcome.providerID) return outcome;
  return failed(
    "ProviderIDChanged",
    `The machine is now ${outcome.providerID} but was ${known}`,
    "Delete the Machine to have it replaced",
  );
}

/** The provider's own infrastructure cluster: the one the Cluster refers to, or an additional one. */
function ownInfraCluster<C extends InfraClusterObject>(
  cluster: Cluster,
  kind: KindDefinition<C> | undefined,
  context: ReconcileContext,
): C | undefined {
  if (kind === undefined) return undefined;
  const { namespace } = cluster.metadata;
  const reference = cluster.spec?.infrastructureRef;
  if (reference?.kind === kind.kind && reference.apiGroup === kind.group)
    return context.cache.get<C>(kind, { namespace, name: reference.name });
  return context.cache.byIndex<C>(kind, BY_CLUSTER_LABEL, `${namespace}/${cluster.metadata.name}`)[0];
}

class BootstrapDataMissingError extends Error {}

/** Machines of a MachinePool share its bootstrap data. */
async function poolSecret(machine: Machine, context: ReconcileContext): Promise<string | undefined> {
  const owner = machine.metadata.ownerReferences?.find(({ kind }) => kind === MachinePool.kind);
  if (owner === undefined) return undefined;
  const key = { namespace: machine.metadata.namespace, name: owner.name };
  const pool = await context.client.get<MachinePool>(MachinePool, key, context.signal);
  return pool?.spec.template.spec.bootstrap.dataSecretName;
}

async function bootstrapData(machine: Machine, context: ReconcileContext): Promise<BootstrapData> {
  const name = machine.spec.bootstrap.dataSecretName || (await poolSecret(machine, context));
  if (name === undefined)
    throw new BootstrapDataMissingError("Waiting for the bootstrap provider to provide bootstrap data");
  const key = { namespace: machine.metadata.namespace, name };
  // The cache may hold only Secrets with a cluster's label; one that a user brought may have none.
  const secret = context.cache.get(Secret, key) ?? (await context.client.get(Secret, key, context.signal));
  const value = secret?.data?.["value"];
  if (value === undefined)
    throw new BootstrapDataMissingError(
      secret === undefined
        ? `Secret ${name} with the bootstrap data does not exist`
        : `Secret ${name} has no key "value" with the bootstrap data`,
    );
  const format = Buffer.from(secret?.data?.["format"] ?? "", "base64").toString("utf8");
  return { format: format === "ignition" ? "ignition" : "cloud-config", bytes: Buffer.from(value, "base64") };
}

function provisioned(outcome: Outcome): object {
  if (outcome.type !== "ready") return {};
  const { addresses, failureDomain } = outcome;
  return {
    initialization: { provisioned: true },
    addresses,
    failureDomain,
  };
}

/** The label that says which Cluster an infrastructure object belongs to, as an index. */
export function byClusterLabel(object: {
  metadata: { namespace?: string; labels?: Record<string, string> };
}): string[] {
  const name = object.metadata.labels?.[CLUSTER_NAME_LABEL];
  return name === undefined ? [] : [`${object.metadata.namespace}/${name}`];
}
