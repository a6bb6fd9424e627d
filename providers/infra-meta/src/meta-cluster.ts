import type { OwnerReference, Unstructured } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ContractObject,
  endpointOf,
  MANAGED_BY_ANNOTATION,
  pausedCondition,
  resolveKind,
  validEndpoint,
} from "@capstan/capi";
import { done, type MapFunction, type ReconcileContext, type Request, type Result } from "@capstan/runtime";
import { type Child, readChildren } from "./children.ts";
import { chooseEndpoint, type Endpoint, withoutEndpoint } from "./endpoint.ts";
import { type InfrastructureReference, MetaCluster } from "./kinds/meta-cluster.ts";
import { metaClusterStatus } from "./status.ts";

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
  const cluster = ownerCluster(meta, context);
  const paused = pausedCondition(meta, cluster);
  const children = await readChildren(meta, context, parentsOf);
  const deleting = meta.metadata.deletionTimestamp !== undefined;
  // Somebody else writes its status then, and has no use for ours.
  if (!deleting && meta.metadata.annotations?.[MANAGED_BY_ANNOTATION] !== undefined) return done();
  let endpoint: Endpoint | undefined;
  let waitingFor: string | undefined;
  if (deleting && paused.status !== "True") {
    waitingFor = await deleteChildren(children, context);
    if (waitingFor === undefined) return await release(meta, context);
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
    deleting: deleting ? (waitingFor ?? "Deletion rests while the object is paused") : undefined,
    ...(cluster === undefined && !deleting ? { waiting: noOwner } : {}),
    nowMs: context.clock.now(),
  });
  await context.client.ensure({ ...identity(meta), status } as MetaCluster, context.cache.get(MetaCluster, request), {
    subresource: "status",
  });
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
  const self = identity(meta);
  await context.client.ensure(
    { ...self, metadata: { ...self.metadata, finalizers: [FINALIZER] } } as MetaCluster,
    meta,
  );
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
  const { object } = child;
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
  const owner = (of: MetaCluster | Cluster, apiVersion: string, controller: boolean): OwnerReference => ({
    apiVersion,
    kind: of.kind,
    name: of.metadata.name ?? "",
    uid: of.metadata.uid ?? "",
    ...(controller ? { controller: true, blockOwnerDeletion: true } : {}),
  });
  const desired: Unstructured = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name: object.metadata.name ?? "",
      namespace: object.metadata.namespace ?? "",
      labels: { [CLUSTER_NAME_LABEL]: cluster.metadata.name ?? "" },
      ownerReferences: [owner(cluster, Cluster.apiVersion, false), owner(meta, MetaCluster.apiVersion, true)],
    },
  };
  await context.client.ensure(desired, object);
}

/** Deletes what is ours, the control plane's infrastructure last. Returns what is waited for, or undefined when all are gone. */
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

async function release(meta: MetaCluster, context: ReconcileContext): Promise<Result> {
  const finalizers = meta.metadata.finalizers ?? [];
  if (finalizers.includes(FINALIZER))
    await context.client.patch(meta, {
      metadata: {
        finalizers: finalizers.filter((name) => name !== FINALIZER),
        resourceVersion: meta.metadata.resourceVersion,
      },
    });
  return done();
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

function ownerCluster(meta: MetaCluster, context: ReconcileContext): Cluster | undefined {
  const reference = meta.metadata.ownerReferences?.find(
    (owner) => owner.kind === Cluster.kind && owner.apiVersion.startsWith(`${Cluster.group}/`),
  );
  if (reference === undefined) return undefined;
  return context.cache.get(Cluster, { namespace: meta.metadata.namespace, name: reference.name });
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
