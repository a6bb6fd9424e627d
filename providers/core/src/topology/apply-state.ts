import { isReason, type KubeObject, type Unstructured } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ContractObject,
  type ContractReference,
  field,
  MachineHealthCheck,
  MachineSet,
} from "@capstan/capi";
import type { Kind, ReconcileContext } from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";
import type { Blueprint, CurrentState, Template } from "./blueprint.ts";
import { TOPOLOGY_OWNED_LABEL } from "./constants.ts";
import { referenceTo } from "./desired-control-plane.ts";
import type { DesiredState } from "./desired-state.ts";

/** Applies all objects of a topology, referenced ones first, so that no reference is ever dangling. */
export async function applyState(cluster: Cluster, desired: DesiredState, context: ReconcileContext): Promise<void> {
  await apply(desired.infrastructure, context);
  if (desired.controlPlaneMachine !== undefined) await apply(desired.controlPlaneMachine, context);
  await apply(desired.controlPlane, context);
  await applyReferences(cluster, desired, context);
  if (desired.controlPlaneHealthCheck !== undefined) await apply(desired.controlPlaneHealthCheck, context);
  for (const worker of desired.workers) {
    await apply(worker.bootstrap, context);
    await apply(worker.infrastructure, context);
    await apply(worker.object, context);
    if (worker.healthCheck !== undefined) await apply(worker.healthCheck, context);
  }
}

async function apply(desired: KubeObject, context: ReconcileContext): Promise<void> {
  const kind = await context.client.kindOf(desired);
  const { namespace, name = "" } = desired.metadata;
  const live = context.cache.synced(kind)
    ? context.cache.get(kind as Kind<KubeObject>, { namespace, name })
    : await context.client.get(kind as Kind<KubeObject>, { namespace, name });
  if (live?.metadata.deletionTimestamp !== undefined) return;
  await context.client.ensure(desired, live);
}

/** The Cluster refers to its objects from now on. */
async function applyReferences(cluster: Cluster, desired: DesiredState, context: ReconcileContext): Promise<void> {
  const { namespace, name = "" } = cluster.metadata;
  const object = {
    apiVersion: Cluster.apiVersion,
    kind: Cluster.kind,
    metadata: {
      namespace,
      name,
      labels: { [CLUSTER_NAME_LABEL]: name, [TOPOLOGY_OWNED_LABEL]: "" },
    },
    spec: {
      infrastructureRef: referenceTo(desired.infrastructure),
      controlPlaneRef: referenceTo(desired.controlPlane),
    },
  } as unknown as Cluster;
  await context.client.ensure(object, context.cache.get(Cluster, { namespace, name }));
}

/** Deletes what the topology no longer contains: workers, health checks and unused templates. */
export async function removeLeftovers(
  blueprint: Blueprint,
  current: CurrentState,
  desired: DesiredState,
  context: ReconcileContext,
): Promise<void> {
  const { topology, cluster } = blueprint;
  const wanted = new Set([
    ...(topology.workers?.machineDeployments ?? []).map(({ name }) => `MachineDeployment/${name}`),
    ...(topology.workers?.machinePools ?? []).map(({ name }) => `MachinePool/${name}`),
  ]);
  for (const [name, object] of [...current.deployments, ...current.pools])
    if (!wanted.has(`${object.kind}/${name}`)) await remove(object, context);
  const checks = new Set(
    [desired.controlPlaneHealthCheck, ...desired.workers.map(({ healthCheck }) => healthCheck)].map(
      (check) => check?.metadata.name,
    ),
  );
  const key = clusterKey(cluster.metadata.namespace ?? "", cluster.metadata.name ?? "");
  for (const check of context.cache.byIndex(MachineHealthCheck, BY_CLUSTER, key))
    if (isOwned(check) && !checks.has(check.metadata.name)) await remove(check, context);
  await removeTemplates(blueprint, desired, context);
}

async function removeTemplates(blueprint: Blueprint, desired: DesiredState, context: ReconcileContext): Promise<void> {
  const { cluster } = blueprint;
  const { namespace = "", name = "" } = cluster.metadata;
  const used = new Set<string>();
  const use = (reference: Pick<ContractReference, "kind" | "name"> | undefined): void => {
    if (reference !== undefined) used.add(`${reference.kind}/${reference.name}`);
  };
  if (desired.controlPlaneMachine !== undefined) use(referenceTo(desired.controlPlaneMachine));
  for (const { bootstrap, infrastructure } of desired.workers) {
    use(referenceTo(bootstrap));
    use(referenceTo(infrastructure));
  }
  // Machines of older sets are still created and replaced from the older templates.
  for (const set of context.cache.byIndex(MachineSet, BY_CLUSTER, clusterKey(namespace, name))) {
    use(set.spec.template.spec.bootstrap.configRef);
    use(set.spec.template.spec.infrastructureRef);
  }
  const kinds = new Map<string, Kind<ContractObject>>();
  const templates: (Template | undefined)[] = [
    blueprint.controlPlaneMachine,
    ...[...blueprint.deployments.values()].flatMap(({ bootstrap, infrastructure }) => [bootstrap, infrastructure]),
  ];
  for (const template of templates) if (template !== undefined) kinds.set(template.kind.kind, template.kind);
  for (const kind of kinds.values())
    for (const object of context.cache.list(kind, { namespace }))
      if (
        isOwned(object) &&
        object.metadata.labels?.[CLUSTER_NAME_LABEL] === name &&
        !used.has(`${object.kind}/${object.metadata.name}`) &&
        field(object, "spec", "template") !== undefined
      )
        await remove(object, context);
}

function isOwned(object: KubeObject): boolean {
  return object.metadata.labels?.[TOPOLOGY_OWNED_LABEL] !== undefined;
}

async function remove(object: KubeObject, context: ReconcileContext): Promise<void> {
  if (object.metadata.deletionTimestamp !== undefined) return;
  try {
    await context.client.delete(object as Unstructured);
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}
