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
import { CLUSTER_NAME_LABEL, MANAGED_BY_ANNOTATION } from "../contract/constants.ts";
import { validEndpoint } from "../contract/fields.ts";
import { pausedCondition } from "../contract/paused.ts";
import { Cluster } from "../kinds/cluster.ts";
import type { KindDefinition } from "../schema/kind.ts";
import { finalizerOf } from "./finalizer.ts";
import type { InfraClusterObject, InfraMachineObject } from "./infra-kinds.ts";
import { type Outcome, wait } from "./outcome.ts";
import { ownerCluster } from "./owners.ts";
import {
  deletingCondition,
  errorCondition,
  keptStatus,
  nextLook,
  readyCondition,
  reportProblem,
  writeStatus,
} from "./report.ts";
import type { InfraClusterRemoval, InfraClusterScope, ProviderScope } from "./scope.ts";

/** Index of infrastructure objects by the Cluster their label names. */
export const BY_CLUSTER_LABEL = "cluster-label";

/** What a provider says about its infrastructure clusters. */
export interface ClusterDefinition<C extends InfraClusterObject, B> {
  readonly kind: KindDefinition<C>;
  /** Called until it reports `ready`, and again on every change; must be safe to repeat at any point. */
  ensure(scope: InfraClusterScope<C, B>): Promise<Outcome>;
  /** Called until it reports `gone`; must be safe to repeat, also when nothing was ever made. */
  remove(scope: InfraClusterRemoval<C, B>): Promise<Outcome>;
  /** Calls `changed` when the outside world changed; returns a function that ends it. Without it there are only rechecks. */
  watch?(backend: B, changed: (cluster: Request) => void): () => void;
}

/** Reconciles one infrastructure cluster by one step. */
export async function reconcileInfraCluster<C extends InfraClusterObject, B>(
  request: Request,
  context: ReconcileContext,
  definition: ClusterDefinition<C, B>,
  machineKind: KindDefinition<InfraMachineObject> | undefined,
  provider: ProviderScope<B>,
): Promise<Result> {
  const object = context.cache.get<C>(definition.kind, request);
  // An external system that manages an object sets spec and status itself.
  if (object === undefined || object.metadata.annotations?.[MANAGED_BY_ANNOTATION] !== undefined) return done();
  const cluster = ownerCluster(context.cache, object);
  const paused = pausedCondition(object, cluster);
  const report = (fields: object, ...conditions: Parameters<typeof writeStatus>[2]): Promise<void> =>
    writeStatus(
      context.cache.get<C>(definition.kind, request) ?? object,
      { ...keptStatus(object), ...fields },
      [...conditions, paused],
      context,
    );
  if (paused.status === "True") {
    await report({});
    return done();
  }
  if (object.metadata.deletionTimestamp !== undefined) {
    if (!hasFinalizer(object, finalizerOf(definition.kind))) return done();
    const left = machinesOf(object, machineKind, context);
    const outcome =
      left > 0
        ? wait("WaitingForMachinesDeletion", `Waiting for ${left} ${machineKind?.kind} to be deleted first`)
        : await definition.remove({ ...provider, object, cluster });
    if (outcome.type === "gone") {
      await releaseFinalizer(context.client, object, finalizerOf(definition.kind), context.signal);
      return done();
    }
    const deleting = deletingCondition(outcome);
    reportProblem(object, outcome, context, deleting);
    await report(outcome.status ?? {}, deleting, ...(outcome.conditions ?? []));
    return nextLook(outcome);
  }
  if (cluster === undefined) {
    const dueMs = ownerDueMs(object, context);
    if (dueMs > 0) return requeueAfter(dueMs);
    const outcome = wait(
      "WaitingForCluster",
      `Waiting for a Cluster to name this ${definition.kind.kind} in spec.infrastructureRef`,
    );
    await report({}, readyCondition(outcome), deletingCondition());
    return done();
  }
  await ensureFinalizer(context.client, object, finalizerOf(definition.kind), context.signal);
  let outcome: Outcome;
  try {
    outcome = await definition.ensure({ ...provider, object, cluster });
  } catch (error) {
    const thrown = errorCondition(error);
    reportProblem(object, "thrown", context, thrown);
    await report({}, thrown, deletingCondition());
    throw error;
  }
  if (outcome.type === "ready")
    await offerEndpoint(object, outcome.endpoint ?? borrowedEndpoint(object, cluster), context);
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

/** How long the Cluster's controller may take to make itself the owner before the wait is reported. */
const OWNER_GRACE_MS = 5_000;

/** How much longer an owner may be expected: only for a new object that a Cluster of the same name refers to. */
function ownerDueMs(object: InfraClusterObject, context: ReconcileContext): number {
  const { namespace, name = "", creationTimestamp = "" } = object.metadata;
  const spec = context.cache.get(Cluster, { namespace, name })?.spec;
  const reference = spec?.infrastructureRef;
  if (spec?.paused === true || reference?.kind !== object.kind || reference.name !== name) return 0;
  return OWNER_GRACE_MS - (context.clock.now() - Date.parse(creationTimestamp));
}

/** An additional infrastructure cluster, to which its Cluster does not refer, has the Cluster's endpoint. */
function borrowedEndpoint(object: InfraClusterObject, cluster: Cluster): { host: string; port: number } | undefined {
  const { kind, name } = cluster.spec?.infrastructureRef ?? {};
  if (kind === object.kind && name === object.metadata.name) return undefined;
  return validEndpoint(cluster.spec?.controlPlaneEndpoint);
}

/** The endpoint is written once: certificates and nodes depend on it. */
async function offerEndpoint<C extends InfraClusterObject>(
  object: C,
  endpoint: { host: string; port: number } | undefined,
  context: ReconcileContext,
): Promise<void> {
  if (endpoint === undefined || validEndpoint(object.spec?.controlPlaneEndpoint) !== undefined) return;
  await context.client.patch(object, { spec: { controlPlaneEndpoint: endpoint } }, {}, context.signal);
}

function provisioned(outcome: Outcome): object {
  if (outcome.type !== "ready") return {};
  const { failureDomains } = outcome;
  return { initialization: { provisioned: true }, failureDomains };
}

function machinesOf(
  object: InfraClusterObject,
  machineKind: KindDefinition<InfraMachineObject> | undefined,
  context: ReconcileContext,
): number {
  const name = object.metadata.labels?.[CLUSTER_NAME_LABEL];
  if (name === undefined || machineKind === undefined) return 0;
  return context.cache.byIndex(machineKind, BY_CLUSTER_LABEL, `${object.metadata.namespace}/${name}`).length;
}
