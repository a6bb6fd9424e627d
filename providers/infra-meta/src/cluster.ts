import { ownerReference } from "@capstan/apimachinery";
import {
  adopt,
  type Cluster,
  type ContractObject,
  endpointOf,
  MANAGED_BY_ANNOTATION,
  ownerCluster,
  pausedCondition,
  resolveKind,
  validEndpoint,
} from "@capstan/capi";
import {
  done,
  ensureFinalizer,
  type MapFunction,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
} from "@capstan/runtime";
import { type Child, readChildren } from "./cluster/children.ts";
import { chooseEndpoint, type Endpoint, withoutEndpoint } from "./cluster/endpoint.ts";
import { metaClusterStatus } from "./cluster/status.ts";
import { type InfrastructureReference, MetaCluster } from "./kinds/meta-cluster.ts";

const FINALIZER = "metacluster.infrastructure.cluster.x-k8s.io";
/** Name of the index of MetaClusters by the children that they reference. */
export const BY_CHILD = "child";

/** Returns the key of a child in the BY_CHILD index. */
export function childKey(namespace: string, reference: { apiGroup: string; kind: string; name: string }): string {
  return `${namespace}/${reference.apiGroup}/${reference.kind}/${reference.name}`;
}

/** Reconciles a MetaCluster: owns its children, propagates the endpoint, deletes the children with it and reports status. */
export async function reconcileMetaCluster(request: Request, context: ReconcileContext): Promise<Result> {
  const meta = context.cache.get(MetaCluster, request);
  if (meta === undefined) return done();
  const cluster = ownerCluster(context.cache, meta);
  const paused = pausedCondition(meta, cluster);
  const children = await readChildren(meta, context, parentsOf);
  const deleting = meta.metadata.deletionTimestamp !== undefined;
  // An external system writes its status then.
  if (!deleting && meta.metadata.annotations?.[MANAGED_BY_ANNOTATION] !== undefined) return done();
  let endpoint: Endpoint | undefined;
  let waitingFor: string | undefined;
  if (deleting && paused.status !== "True") {
    waitingFor = await deleteChildren(children, context);
    if (waitingFor === undefined) {
      await releaseFinalizer(context.client, meta, FINALIZER);
      return done();
    }
  } else if (cluster !== undefined) {
    endpoint = chooseEndpoint({
      cluster: validEndpoint(cluster.spec?.controlPlaneEndpoint),
      own: validEndpoint(meta.spec.controlPlaneEndpoint),
      controlPlane: await controlPlaneEndpoint(cluster, context),
      children,
    });
    if (paused.status !== "True") await ensure(meta, cluster, children, endpoint, context);
  }
  const noOwner = {
    reason: "WaitingForCluster",
    message: "Waiting for a Cluster to name this object in spec.infrastructureRef",
  };
  const status = metaClusterStatus({
    meta,
    children,
    endpoint,
    paused,
    deleting: deleting ? (waitingFor ?? "Deletion is suspended while the object is paused") : undefined,
    ...(cluster === undefined && !deleting ? { waiting: noOwner } : {}),
    nowMs: context.clock.now(),
  });
  await context.ensureStatus({ ...identity(meta), status } as MetaCluster, context.cache.get(MetaCluster, request));
  return done();
}

/** A change of a child concerns the MetaClusters that list it, whether or not they own it yet. */
function parentsOf(reference: InfrastructureReference): MapFunction<ContractObject> {
  return (object, cache) =>
    cache
      .byIndex(
        MetaCluster,
        BY_CHILD,
        childKey(object.metadata.namespace ?? "", { ...reference, name: object.metadata.name ?? "" }),
      )
      .map((found) => ({ namespace: found.metadata.namespace ?? "", name: found.metadata.name ?? "" }));
}

async function ensure(
  meta: MetaCluster,
  cluster: Cluster,
  children: readonly Child[],
  endpoint: Endpoint | undefined,
  context: ReconcileContext,
): Promise<void> {
  await ensureFinalizer(context.client, meta, FINALIZER);
  if (endpoint !== undefined && validEndpoint(meta.spec.controlPlaneEndpoint) === undefined)
    await context.client.patch(meta, { spec: { controlPlaneEndpoint: endpoint } });
  for (const child of children) await own(meta, cluster, child, context);
  if (endpoint === undefined) return;
  for (const child of withoutEndpoint(children))
    if (child.object !== undefined)
      await context.client.patch(child.object, { spec: { controlPlaneEndpoint: endpoint } });
}

/** Two owners: upstream's controllers idle without a Cluster as owner, and we are the one who deletes. */
async function own(meta: MetaCluster, cluster: Cluster, child: Child, context: ReconcileContext): Promise<void> {
  if (child.object === undefined) return;
  const owners = [ownerReference(cluster), ownerReference(meta, { controller: true })];
  await adopt(context, child.object, cluster.metadata.name ?? "", owners);
}

/** Deletes what is ours, the control plane's infrastructure last. Returns what it waits for, or undefined once all are deleted. */
async function deleteChildren(children: readonly Child[], context: ReconcileContext): Promise<string | undefined> {
  const present = children.filter((child) => child.object !== undefined);
  const others = present.filter((child) => child.reference.controlPlane !== true);
  const now = others.length > 0 ? others : present;
  for (const child of now)
    if (child.object !== undefined && child.object.metadata.deletionTimestamp === undefined)
      await context.client.delete(child.object);
  if (present.length === 0) return undefined;
  return `Waiting for ${now.map((child) => `${child.reference.kind}/${child.reference.name}`).join(", ")} to be deleted`;
}

/** What the control plane object offers; read through the contract, whatever its kind. */
async function controlPlaneEndpoint(cluster: Cluster, context: ReconcileContext): Promise<Endpoint | undefined> {
  const reference = cluster.spec?.controlPlaneRef;
  if (reference === undefined) return undefined;
  const resolved = resolveKind(context.cache, reference);
  if ("problem" in resolved) return undefined;
  // The Cluster copies the control plane's endpoint as soon as there is one, and its change wakes us: no watch of our own is needed.
  const object = context.cache.synced(resolved.kind)
    ? context.cache.get(resolved.kind, { namespace: cluster.metadata.namespace, name: reference.name })
    : undefined;
  return object === undefined ? undefined : endpointOf(object);
}

function identity(meta: MetaCluster): {
  apiVersion: string;
  kind: string;
  metadata: { namespace: string; name: string };
} {
  return {
    apiVersion: MetaCluster.apiVersion,
    kind: MetaCluster.kind,
    metadata: { namespace: meta.metadata.namespace ?? "", name: meta.metadata.name ?? "" },
  };
}
