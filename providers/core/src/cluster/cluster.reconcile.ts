import { ownerReference } from "@capstan/apimachinery";
import {
  adopt,
  CLUSTER_FINALIZER,
  Cluster,
  CONNECTING_MS,
  controlPlaneInitialized,
  endpointOf,
  infrastructureProvisioned,
  isControlPlaneMachine,
  Machine,
  pausedCondition,
  type Referenced,
  validEndpoint,
  type WorkloadClusters,
} from "@capstan/capi";
import { done, type ReconcileContext, type Request, type Result, requeueAfter } from "@capstan/runtime";
import type { Coalescer } from "../shared/coalesce.ts";
import { deleteCluster } from "./cluster.delete.ts";
import { clusterStatus, type Initialization } from "./cluster.status.ts";
import { type ClusterScope, readCluster } from "./cluster-scope.ts";
import { BY_CLUSTER, clusterKey } from "./indexes.ts";

/** Reconciles a Cluster: owns its parts, copies what they provide (such as the endpoint), and reports their state. */
export async function reconcileCluster(
  request: Request,
  context: ReconcileContext,
  workload: WorkloadClusters,
  coalescer: Coalescer,
): Promise<Result> {
  const cluster = context.cache.get(Cluster, request);
  if (cluster === undefined) return done();
  const key = clusterKey(request.namespace, request.name);
  const parts = context.cache.byIndex(Machine, BY_CLUSTER, key).length;
  const pause = coalescer.pause(key, parts, context.clock);
  if (pause > 0) return requeueAfter(pause);
  const paused = pausedCondition(cluster, cluster);
  const scope = await readCluster(cluster, context);
  const initialization = initializationOf(scope);
  const deleting =
    cluster.metadata.deletionTimestamp === undefined
      ? undefined
      : await deleteCluster(scope, context, paused.status === "True");
  if (deleting?.gone === true) {
    coalescer.passed(key, 0, context.clock);
    return done();
  }

  if (deleting === undefined && paused.status !== "True") {
    await ensureSpec(scope, initialization, context);
    await ensureOwned(scope, scope.infrastructure, context);
    await ensureOwned(scope, scope.controlPlane, context);
    for (const { object } of scope.secondaries)
      await adopt(context, object, scope.cluster.metadata.name ?? "", [ownerReference(scope.cluster)]);
  }
  const connection = workload.get({ namespace: request.namespace, name: request.name });
  const status = clusterStatus({
    scope,
    initialization,
    paused,
    connection,
    deleting: deleting?.waitingFor,
    nowMs: context.clock.now(),
  });
  await context.ensureStatus(
    {
      apiVersion: Cluster.apiVersion,
      kind: Cluster.kind,
      metadata: { namespace: request.namespace, name: request.name },
      status,
    } as Cluster,
    context.cache.get(Cluster, request),
  );
  coalescer.passed(key, parts, context.clock);
  if (deleting?.retryMs !== undefined) return requeueAfter(deleting.retryMs);
  // Check again the state kept for a connection that is never established.
  return connection.state === "connecting" && initialization.controlPlaneInitialized
    ? requeueAfter(CONNECTING_MS)
    : done();
}

/** What has been reached, including earlier: these flags never become false again. */
function initializationOf(scope: ClusterScope): Initialization {
  const before = scope.cluster.status?.initialization;
  const { infrastructure, controlPlane } = scope;
  return {
    // A cluster without infrastructure object is legal: there is nothing to wait for. A topology brings one.
    infrastructureProvisioned:
      before?.infrastructureProvisioned === true ||
      (infrastructure.state === "none" && scope.cluster.spec?.topology === undefined) ||
      (infrastructure.state === "found" && infrastructureProvisioned(infrastructure.object, infrastructure.contract)),
    controlPlaneInitialized:
      before?.controlPlaneInitialized === true ||
      (controlPlane.state === "found" && controlPlaneInitialized(controlPlane.object, controlPlane.contract)) ||
      (controlPlane.state === "none" &&
        scope.machines.some((machine) => isControlPlaneMachine(machine) && machine.status?.nodeRef !== undefined)),
  };
}

/** Sets the finalizer, and the endpoint once a provider offers one and none is set. */
async function ensureSpec(
  scope: ClusterScope,
  initialization: Initialization,
  context: ReconcileContext,
): Promise<void> {
  const { cluster } = scope;
  const { namespace, name } = cluster.metadata;
  const desired = {
    apiVersion: Cluster.apiVersion,
    kind: Cluster.kind,
    metadata: { namespace, name, finalizers: [CLUSTER_FINALIZER] },
  };
  await context.client.ensure(desired as Cluster, cluster);
  if (validEndpoint(cluster.spec?.controlPlaneEndpoint) !== undefined) return;
  const endpoint = offeredEndpoint(scope, initialization);
  // Copied once and never changed again, so a plain patch: no field manager should own it.
  if (endpoint !== undefined) await context.client.patch(cluster, { spec: { controlPlaneEndpoint: endpoint } });
}

function offeredEndpoint(
  scope: ClusterScope,
  initialization: Initialization,
): { host: string; port: number } | undefined {
  const { infrastructure, controlPlane } = scope;
  const fromInfrastructure =
    infrastructure.state === "found" && initialization.infrastructureProvisioned
      ? endpointOf(infrastructure.object)
      : undefined;
  // Earlier than upstream, which waits for an initialized control plane (docs/decisions/0004-endpoint-before-initialized.md).
  const fromControlPlane = controlPlane.state === "found" ? endpointOf(controlPlane.object) : undefined;
  return fromInfrastructure ?? fromControlPlane;
}

/** Makes the Cluster an owner of what it refers to, so that deletion, pausing and moving reach it. */
async function ensureOwned(scope: ClusterScope, referenced: Referenced, context: ReconcileContext): Promise<void> {
  if (referenced.state !== "found") return;
  const { cluster } = scope;
  const owner = ownerReference(cluster, { controller: cluster.spec?.topology !== undefined });
  await adopt(context, referenced.object, cluster.metadata.name ?? "", [owner]);
}
