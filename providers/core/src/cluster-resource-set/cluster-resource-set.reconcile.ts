import {
  addOwnerReference,
  formatTime,
  type LabelSelector,
  ownerReference,
  selectorOrProblem,
} from "@capstan/apimachinery";
import {
  Cluster,
  ClusterResourceSet,
  ClusterResourceSetBinding,
  ConfigMap,
  conditionsOf,
  pausedCondition,
  type Secret,
  type WorkloadCalls,
  type WorkloadClusters,
} from "@capstan/capi";
import {
  done,
  ensureFinalizer,
  ensureStatusIfPresent,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requestFor,
  requeueAfter,
} from "@capstan/runtime";
import { applyObjects } from "./apply-payload.ts";
import { bindingOf, type ResourceRecord, recordsOf, removeRecords, writeRecords } from "./binding.ts";
import { type ClusterOutcome, retryDelay, type SetProblem, setStatus } from "./cluster-resource-set.status.ts";
import { BY_PAYLOAD, payloadKey } from "./indexes.ts";
import { objectsOf, type Payload, payloadOf } from "./payload.ts";
import { PAYLOAD_SECRET_TYPE, type PayloadSecrets } from "./payload-secrets.ts";

const FINALIZER = "addons.cluster.x-k8s.io";
/** Clusters served at the same time: one that is slow does not hold up the others. */
const CLUSTERS_AT_ONCE = 16;

/** Dependencies of the ClusterResourceSet reconciler. */
export interface ClusterResourceSetDeps {
  workload: WorkloadClusters;
  calls: WorkloadCalls;
  secrets: PayloadSecrets;
}

/** Reconciles a ClusterResourceSet: applies its manifests to all matching Clusters that are ready for them. */
export async function reconcileClusterResourceSet(
  request: Request,
  context: ReconcileContext,
  deps: ClusterResourceSetDeps,
): Promise<Result> {
  let set = context.cache.get(ClusterResourceSet, request);
  if (set === undefined) return done();
  if (set.metadata.deletionTimestamp !== undefined) {
    await forget(set, context);
    return done();
  }
  const paused = pausedCondition(set, undefined);
  if (paused.status === "True") {
    await writeStatus(set, { paused }, context);
    return done();
  }
  set = await ensureFinalizer(context.client, set, FINALIZER);
  const { payloads, problems } = await readPayloads(set, context, deps.secrets);
  const selector = selectorOrProblem(set.spec.clusterSelector, "spec.clusterSelector");
  if (selector.problem !== undefined) problems.unshift({ reason: "InvalidSelector", message: selector.problem });
  const clusters = matchingClusters(set, selector, context);
  const outcomes = await forEach(clusters, CLUSTERS_AT_ONCE, (cluster) => serve(set, cluster, payloads, context, deps));
  await writeStatus(set, { paused, problems, outcomes }, context);
  const failing = outcomes.some((outcome) => outcome.retry);
  return failing ? requeueAfter(retryDelay(conditionsOf(set), context.clock.now())) : done();
}

/** The Clusters meant; an empty selector means none, as upstream has it. */
function matchingClusters(set: ClusterResourceSet, selector: LabelSelector, context: ReconcileContext): Cluster[] {
  if (selector.empty) return [];
  return context.cache
    .list(Cluster, { namespace: set.metadata.namespace })
    .filter((cluster) => selector.matches(cluster.metadata.labels))
    .filter((cluster) => cluster.metadata.deletionTimestamp === undefined);
}

type Resource = ClusterResourceSet["spec"]["resources"][number];
type Payloads = readonly { resource: Resource; payload: Payload }[];

/** Reads what is to be applied and makes the ClusterResourceSet an owner of it, so that it is moved and deleted with it. */
async function readPayloads(
  set: ClusterResourceSet,
  context: ReconcileContext,
  secrets: PayloadSecrets,
): Promise<{ payloads: Payloads; problems: SetProblem[] }> {
  const payloads: { resource: Resource; payload: Payload }[] = [];
  const problems: SetProblem[] = [];
  for (const resource of set.spec.resources) {
    const key = { namespace: set.metadata.namespace ?? "", name: resource.name };
    const object =
      resource.kind === "Secret"
        ? await secrets.get(context, key, (secret) => usersOf("Secret", secret, context))
        : context.cache.get(ConfigMap, key);
    if (object === undefined)
      problems.push({
        reason: "InternalError",
        message: `${resource.kind} ${resource.name} does not exist; create it`,
      });
    else if (resource.kind === "Secret" && (object as Secret).type !== PAYLOAD_SECRET_TYPE)
      problems.push({
        reason: "WrongSecretType",
        message: `Secret type of resource ${resource.name} is not supported: it must be ${PAYLOAD_SECRET_TYPE}`,
      });
    else {
      await ensureOwner(set, object, context);
      payloads.push({ resource, payload: payloadOf({ kind: resource.kind, data: object.data }) });
    }
  }
  return { payloads, problems };
}

/** Returns the ClusterResourceSets that reference a Secret or ConfigMap. */
export function usersOf(
  kind: "Secret" | "ConfigMap",
  object: Secret | ConfigMap,
  context: Pick<ReconcileContext, "cache">,
): Request[] {
  if (!context.cache.synced(ClusterResourceSet)) return [];
  const { namespace = "", name = "" } = object.metadata;
  return context.cache.byIndex(ClusterResourceSet, BY_PAYLOAD, payloadKey(namespace, kind, name)).flatMap(requestFor);
}

async function ensureOwner(
  set: ClusterResourceSet,
  object: Secret | ConfigMap,
  context: ReconcileContext,
): Promise<void> {
  const before = object.metadata.ownerReferences;
  const ownerReferences = addOwnerReference(before, ownerReference(set));
  if (ownerReferences === before) return;
  await context.client.patch(object, {
    metadata: { resourceVersion: object.metadata.resourceVersion, ownerReferences },
  });
}

/** Applies what one Cluster does not have yet. */
async function serve(
  set: ClusterResourceSet,
  cluster: Cluster,
  payloads: Payloads,
  context: ReconcileContext,
  deps: ClusterResourceSetDeps,
): Promise<ClusterOutcome> {
  const name = cluster.metadata.name ?? "";
  const strategy = set.spec.strategy ?? "ApplyOnce";
  const records = recordsOf(bindingOf(cluster, context), set);
  const due = payloads.filter(({ resource, payload }) => needsApply(strategy, recordFor(records, resource), payload));
  if (due.length === 0) return { cluster: name, state: "applied", retry: false };
  if (cluster.spec?.paused === true)
    return { cluster: name, state: "waiting", message: "the Cluster is paused", retry: false };
  if (cluster.status?.initialization?.controlPlaneInitialized !== true)
    return { cluster: name, state: "waiting", message: "its control plane is not initialized yet", retry: false };
  const key = { namespace: cluster.metadata.namespace ?? "", name };
  const connection = deps.workload.get(key);
  if (connection.state !== "connected")
    return { cluster: name, state: "waiting", message: `its API is not reachable: ${connection.error}`, retry: false };

  const problems: string[] = [];
  const written = new Map<string, ResourceRecord>(records.map((record) => [recordKey(record), record]));
  for (const { resource, payload } of due) {
    const parsed = await objectsOf(payload, context.clock);
    const target = { cluster: key, client: connection.client, calls: deps.calls, strategy };
    const problem = "problem" in parsed ? parsed.problem : await applyObjects(parsed.objects, target);
    if (problem !== undefined) problems.push(`${resource.kind} ${resource.name}: ${problem}`);
    const before = written.get(recordKey(resource));
    const applied = problem === undefined;
    // Trying again in vain is not worth a write.
    if (!applied && before?.applied === false && before.hash === payload.hash) continue;
    written.set(recordKey(resource), {
      name: resource.name,
      kind: resource.kind,
      hash: payload.hash,
      lastAppliedTime: formatTime(context.clock.now()),
      applied,
    });
  }
  await writeRecords(set, cluster, [...written.values()], context);
  return problems.length === 0
    ? { cluster: name, state: "applied", retry: false }
    : { cluster: name, state: "failed", message: problems.join("\n"), retry: true };
}

function needsApply(strategy: string, record: ResourceRecord | undefined, payload: Payload): boolean {
  if (record?.applied !== true) return true;
  return strategy === "Reconcile" && record.hash !== payload.hash;
}

function recordKey(resource: { kind: string; name: string }): string {
  return `${resource.kind}/${resource.name}`;
}

function recordFor(records: readonly ResourceRecord[], resource: Resource): ResourceRecord | undefined {
  return records.find((record) => record.kind === resource.kind && record.name === resource.name);
}

/** Applied objects stay; only the record of them is removed. */
async function forget(set: ClusterResourceSet, context: ReconcileContext): Promise<void> {
  for (const binding of context.cache.list(ClusterResourceSetBinding, { namespace: set.metadata.namespace }))
    if (binding.spec.bindings?.some((entry) => entry.clusterResourceSetName === set.metadata.name) === true)
      await removeRecords(set, binding, context);
  await releaseFinalizer(context.client, set, FINALIZER);
}

async function forEach<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    const settled = await Promise.allSettled(items.slice(start, start + atOnce).map(work));
    for (const result of settled) {
      if (result.status === "rejected") throw result.reason;
      results.push(result.value);
    }
  }
  return results;
}

async function writeStatus(
  set: ClusterResourceSet,
  input: Parameters<typeof setStatus>[1],
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name } = set.metadata;
  const desired = {
    apiVersion: ClusterResourceSet.apiVersion,
    kind: ClusterResourceSet.kind,
    metadata: { namespace, name },
    status: setStatus(set, input, context.clock.now()),
  } as unknown as ClusterResourceSet;
  const live = context.cache.get(ClusterResourceSet, { namespace, name: name ?? "" });
  await ensureStatusIfPresent(context, desired, live);
}
