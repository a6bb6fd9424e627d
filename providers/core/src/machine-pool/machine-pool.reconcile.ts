import { isReason, ownerReference } from "@capstan/apimachinery";
import {
  adopt,
  bootstrapDataSecretName,
  CLUSTER_NAME_LABEL,
  Cluster,
  type ContractObject,
  field,
  hasDefinition,
  infrastructureProvisioned,
  MachinePool,
  type Node,
  pausedCondition,
  type Referenced,
  readReference,
  referenceText,
  referrersKey,
  type WorkloadCalls,
  type WorkloadClusters,
  type WorkloadConnection,
  WorkloadUnavailable,
} from "@capstan/capi";
import {
  type Cache,
  done,
  inParallel,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requestFor,
  requeueAfter,
  soonest,
} from "@capstan/runtime";
import { BY_REFERENCE } from "../cluster/indexes.ts";
import { type MachinePoolStatusInput, machinePoolStatus } from "./machine-pool.status.ts";
import { countMachines, ensurePoolMachines } from "./pool-machines.ts";
import { nodePatch, type PoolNodes, poolNodes, retiredNodes } from "./pool-nodes.ts";

const FINALIZER = "machinepool.cluster.x-k8s.io";
const CALLS_AT_ONCE = 5;
/** How soon a failed read is retried. */
const UNREAD_RETRY_MS = 10_000;

/** Dependencies of the MachinePool reconciler. */
export interface MachinePoolDeps {
  workload: WorkloadClusters;
  calls: WorkloadCalls;
}

interface Scope {
  pool: MachinePool;
  cluster: Cluster | undefined;
  bootstrap: Referenced;
  infrastructure: Referenced;
  connection: WorkloadConnection;
}

/** Reconciles a MachinePool: owns its parts, copies what the provider reports, and finds its Nodes. */
export async function reconcileMachinePool(
  request: Request,
  context: ReconcileContext,
  deps: MachinePoolDeps,
): Promise<Result> {
  const pool = context.cache.get(MachinePool, request);
  if (pool === undefined) return done();
  const scope = await readScope(pool, context, deps);
  const paused = pausedCondition(pool, scope.cluster);
  const base = statusBase(scope, paused, context);
  if (paused.status === "True") {
    await writeStatus(base, context);
    return done();
  }
  if (pool.metadata.deletionTimestamp !== undefined) return await remove(scope, base, context, deps);
  await own(scope, scope.bootstrap, context);
  await own(scope, scope.infrastructure, context);
  const observed = await observe(scope, context);
  await ensureSpec(scope, observed.providerIDs, context);
  const late = await settleNodes(scope, observed, deps);
  await writeStatus({ ...base, ...observed.status }, context);
  const recheckMs = observed.nodes?.recheckMs;
  return soonest(late, recheckMs === undefined ? done() : requeueAfter(recheckMs + 1000));
}

async function readScope(pool: MachinePool, context: ReconcileContext, deps: MachinePoolDeps): Promise<Scope> {
  const namespace = pool.metadata.namespace ?? "";
  const key = { namespace, name: pool.spec.clusterName };
  const { bootstrap, infrastructureRef } = pool.spec.template.spec;
  return {
    pool,
    cluster: context.cache.get(Cluster, key),
    bootstrap: await readReference(context, namespace, bootstrap.configRef, referrers),
    infrastructure: await readReference(context, namespace, infrastructureRef, referrers),
    connection: deps.workload.get(key),
  };
}

function referrers(object: ContractObject, cache: Cache): Request[] {
  return cache.byIndex(MachinePool, BY_REFERENCE, referrersKey(object)).flatMap(requestFor);
}

function statusBase(
  scope: Scope,
  paused: MachinePoolStatusInput["paused"],
  context: ReconcileContext,
): MachinePoolStatusInput {
  const { pool, bootstrap, infrastructure } = scope;
  const before = pool.status?.initialization;
  const secret = pool.spec.template.spec.bootstrap.dataSecretName;
  return {
    pool,
    bootstrap,
    infrastructure,
    bootstrapReady:
      before?.bootstrapDataSecretCreated === true ||
      (bootstrap.state === "none" && secret !== undefined) ||
      (bootstrap.state === "found" && bootstrapDataSecretName(bootstrap.object, bootstrap.contract) !== undefined),
    infrastructureProvisioned: before?.infrastructureProvisioned === true || isProvisioned(infrastructure),
    replicas: undefined,
    counts: undefined,
    references: undefined,
    paused,
    deleting: undefined,
    nowMs: context.clock.now(),
  };
}

/** Providers set either flag: the contract's, or `status.ready`, which upstream still reads. */
function isProvisioned(infrastructure: Referenced): boolean {
  if (infrastructure.state !== "found") return false;
  const { object, contract } = infrastructure;
  return infrastructureProvisioned(object, contract) || field(object, "status", "ready") === true;
}

interface Observed {
  /** Instances of the pool; undefined while the provider cannot say. */
  providerIDs: string[] | undefined;
  nodes: PoolNodes | undefined;
  /** Whether Machines of the pool manage its Nodes. */
  hasMachines: boolean;
  status: Pick<MachinePoolStatusInput, "replicas" | "counts" | "references">;
}

/** Reads the provider's instances and matches them with Nodes. */
async function observe({ pool, infrastructure, connection }: Scope, context: ReconcileContext): Promise<Observed> {
  if (infrastructure.state !== "found")
    return { providerIDs: undefined, nodes: undefined, hasMachines: false, status: emptyStatus };
  const { object } = infrastructure;
  const byProviderID = (id: string): Node | undefined =>
    connection.state === "connected" ? connection.nodes.byProviderID(id) : undefined;
  const machines = await ensurePoolMachines(pool, object, byProviderID, context);
  const replicas = numberAt(object, "status", "replicas");
  const ids = isProvisioned(infrastructure) ? stringsAt(object, "spec", "providerIDList") : undefined;
  // An empty list with a count means that the provider has not caught up.
  const providerIDs = ids !== undefined && ids.length === 0 && (replicas ?? 0) !== 0 ? undefined : ids;
  const nodes =
    providerIDs === undefined || connection.state !== "connected"
      ? undefined
      : poolNodes(pool, providerIDs, byProviderID, context.clock.now());
  const counts =
    machines === undefined
      ? nodes
      : {
          ready: countMachines(machines, "Ready"),
          available: countMachines(machines, "Available"),
          upToDate: nodes?.upToDate ?? 0,
        };
  return {
    providerIDs,
    nodes,
    hasMachines: machines !== undefined,
    status: { replicas, counts, references: nodes?.references },
  };
}

const emptyStatus = { replicas: undefined, counts: undefined, references: undefined };

function numberAt(object: unknown, ...path: string[]): number | undefined {
  const value = field(object, ...path);
  return typeof value === "number" ? value : undefined;
}

function stringsAt(object: unknown, ...path: string[]): string[] {
  const value = field(object, ...path);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string" && item !== "") : [];
}

/** Finalizer, label and owner; the bootstrap Secret's name and the instances, copied from the provider's objects. */
async function ensureSpec(scope: Scope, providerIDs: string[] | undefined, context: ReconcileContext): Promise<void> {
  const { pool, cluster, bootstrap } = scope;
  const { namespace, name } = pool.metadata;
  const secret =
    bootstrap.state === "found" ? bootstrapDataSecretName(bootstrap.object, bootstrap.contract) : undefined;
  const ids = providerIDs ?? pool.spec.providerIDList;
  const spec = {
    ...(secret === undefined ? {} : { template: { spec: { bootstrap: { dataSecretName: secret } } } }),
    ...(ids === undefined || ids.length === 0 ? {} : { providerIDList: ids }),
  };
  const desired = {
    apiVersion: MachinePool.apiVersion,
    kind: MachinePool.kind,
    metadata: {
      namespace,
      name,
      finalizers: [FINALIZER],
      labels: { [CLUSTER_NAME_LABEL]: pool.spec.clusterName },
      ...(cluster === undefined ? {} : { ownerReferences: [ownerReference(cluster)] }),
    },
    ...(Object.keys(spec).length > 0 ? { spec } : {}),
  } as unknown as MachinePool;
  await context.client.ensure(desired, pool);
}

/** Makes the pool the controller of what it refers to. */
async function own({ pool }: Scope, referenced: Referenced, context: ReconcileContext): Promise<void> {
  if (referenced.state !== "found") return;
  await adopt(context, referenced.object, pool.spec.clusterName, [ownerReference(pool, { controller: true })]);
}

/** Deletes Nodes of deleted instances; labels the others with their owner. */
async function settleNodes(scope: Scope, observed: Observed, deps: MachinePoolDeps): Promise<Result> {
  const { pool, connection } = scope;
  if (connection.state !== "connected" || observed.providerIDs === undefined) return done();
  const retired = retiredNodes(pool.status?.nodeRefs ?? [], observed.providerIDs, (name) => connection.nodes.get(name));
  const patches = observed.hasMachines
    ? []
    : (observed.nodes?.nodes ?? []).flatMap((node) => {
        const patch = nodePatch(node, pool);
        return patch === undefined ? [] : [{ node, patch }];
      });
  return await callWorkload(async () => {
    const cluster = { namespace: pool.metadata.namespace ?? "", name: pool.spec.clusterName };
    await inParallel(retired, CALLS_AT_ONCE, (node) =>
      deps.calls.run(cluster, (signal) => connection.client.delete(node, {}, signal)),
    );
    await inParallel(patches, CALLS_AT_ONCE, ({ node, patch }) =>
      deps.calls.run(cluster, (signal) => connection.client.patch(node, patch, {}, signal)),
    );
  });
}

/** A workload cluster that is silent, or a Node that changed meanwhile, is a reason to come back, not a failure. */
async function callWorkload(calls: () => Promise<void>): Promise<Result> {
  try {
    await calls();
    return done();
  } catch (error) {
    if (error instanceof WorkloadUnavailable) return requeueAfter(error.retryMs);
    if (isReason(error, "Conflict", "NotFound")) return requeueAfter(1000);
    throw error;
  }
}

/** Provider's objects first, then the Nodes, then the pool. */
async function remove(
  scope: Scope,
  base: MachinePoolStatusInput,
  context: ReconcileContext,
  deps: MachinePoolDeps,
): Promise<Result> {
  const { pool, connection, cluster } = scope;
  const left = [scope.bootstrap, scope.infrastructure].flatMap((part) => (part.state === "found" ? [part] : []));
  // An unreadable object may still exist; only objects of a kind that is no longer served cannot.
  const unread = [scope.bootstrap, scope.infrastructure].flatMap((part) =>
    part.state === "unresolved" && hasDefinition(context.cache, part.reference) ? [part] : [],
  );
  for (const { object } of left)
    if (object.metadata.deletionTimestamp === undefined) await context.client.delete(object);
  if (left.length + unread.length > 0) {
    const message = [
      ...left.map(({ reference }) => `* ${referenceText(reference)}`),
      ...unread.map((part) => `* ${referenceText(part.reference)} cannot be read: ${part.message}`),
    ].join("\n");
    await writeStatus({ ...base, deleting: { reason: "WaitingForInfrastructureDeletion", message } }, context);
    return unread.length === 0 ? done() : requeueAfter(UNREAD_RETRY_MS);
  }
  // A cluster that goes as a whole takes its Nodes along.
  if (cluster !== undefined && cluster.metadata.deletionTimestamp === undefined) {
    const result = await removeNodes(pool, connection, deps);
    if (result.type === "requeue" && !nodesAreLate(pool, connection, context)) return result;
  }
  await releaseFinalizer(context.client, pool, FINALIZER);
  return done();
}

/** Deletes the Nodes; requeues if the workload cluster is unreachable. */
async function removeNodes(
  pool: MachinePool,
  connection: WorkloadConnection,
  { calls }: MachinePoolDeps,
): Promise<Result> {
  const known = pool.status?.nodeRefs ?? [];
  if (known.length === 0) return done();
  if (connection.state !== "connected") return requeueAfter(1000);
  const nodes = retiredNodes(known, [], (name) => connection.nodes.get(name));
  const key = { namespace: pool.metadata.namespace ?? "", name: pool.spec.clusterName };
  return await callWorkload(() =>
    inParallel(nodes, CALLS_AT_ONCE, (node) => calls.run(key, (signal) => connection.client.delete(node, {}, signal))),
  );
}

/** How long Nodes may hold up a pool; a connection that was only just begun gets that time too. */
function nodesAreLate(pool: MachinePool, connection: WorkloadConnection, { clock }: ReconcileContext): boolean {
  const timeout = pool.spec.template.spec.deletion?.nodeDeletionTimeoutSeconds ?? 10;
  const deletion = Date.parse(pool.metadata.deletionTimestamp ?? "");
  const begun = connection.state === "connecting" ? Math.max(deletion, connection.since) : deletion;
  return timeout !== 0 && clock.now() > begun + timeout * 1000;
}

async function writeStatus(input: MachinePoolStatusInput, context: ReconcileContext): Promise<void> {
  const { namespace, name = "" } = input.pool.metadata;
  const live = context.cache.get(MachinePool, { namespace, name });
  if (live === undefined) return;
  const desired = {
    apiVersion: MachinePool.apiVersion,
    kind: MachinePool.kind,
    metadata: { namespace, name },
    status: machinePoolStatus({ ...input, pool: live }),
  } as unknown as MachinePool;
  await context.ensureStatus(desired, live);
}
