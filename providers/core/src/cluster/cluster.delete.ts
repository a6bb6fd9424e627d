import type { KubeObject } from "@capstan/apimachinery";
import { CLUSTER_FINALIZER, CONTROL_PLANE_LABEL, hasDefinition, type Referenced, referenceText } from "@capstan/capi";
import { hasFinalizer, type ReconcileContext, releaseFinalizer } from "@capstan/runtime";
import type { ClusterScope } from "./cluster-scope.ts";

/** Progress of the deletion of a Cluster. */
export interface ClusterDeletion {
  gone: boolean;
  waitingFor: { reason: string; message: string };
  /** How often to check what no event reports. */
  retryMs?: number;
}

/** How soon a failed read is retried. */
const RETRY_MS = 10_000;

/** Deletes the parts of a Cluster in order of dependency: workers, control plane, infrastructure. */
export async function deleteCluster(
  scope: ClusterScope,
  context: ReconcileContext,
  paused: boolean,
): Promise<ClusterDeletion> {
  if (paused) return waiting("Deleting", "Deletion is suspended while the Cluster is paused");
  // The control plane deletes its own Machines: waiting for them before it is deleted would never finish.
  const machines =
    scope.controlPlane.state === "found"
      ? scope.machines.filter((machine) => !isControlPlane(machine))
      : scope.machines;
  const workers: KubeObject[] = [
    ...scope.machineDeployments,
    ...scope.machinePools,
    ...scope.machineSets,
    ...machines.filter(isStandalone),
  ];
  if (workers.length > 0 || machines.length > 0) {
    await deleteAll(workers, context);
    return waiting("WaitingForWorkersDeletion", remaining([...workers, ...machines]));
  }
  const controlPlane = await deleteReferenced(scope.controlPlane, context);
  if (controlPlane !== undefined)
    return waiting("WaitingForControlPlaneDeletion", controlPlane, unreadable(scope.controlPlane, context));
  const secondaries = scope.secondaries.map(({ object }) => object);
  await deleteAll(secondaries, context);
  const primary = await deleteReferenced(scope.infrastructure, context);
  const infrastructure = [primary, ...(secondaries.length > 0 ? [remaining(secondaries)] : [])]
    .filter((text) => text !== undefined)
    .join("\n");
  if (infrastructure !== "")
    return waiting("WaitingForInfrastructureDeletion", infrastructure, unreadable(scope.infrastructure, context));
  await release(scope, context);
  return { gone: true, waitingFor: { reason: "DeletionCompleted", message: "" } };
}

function isStandalone(machine: KubeObject): boolean {
  return machine.metadata.ownerReferences?.some((owner) => owner.controller === true) !== true;
}

function isControlPlane(machine: KubeObject): boolean {
  return machine.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined;
}

function waiting(reason: string, message: string, retry = false): ClusterDeletion {
  return { gone: false, waitingFor: { reason, message }, ...(retry ? { retryMs: RETRY_MS } : {}) };
}

/** An unreadable object may still exist; only objects of a kind that is no longer served cannot. */
function unreadable(referenced: Referenced, { cache }: ReconcileContext): boolean {
  return referenced.state === "unresolved" && hasDefinition(cache, referenced.reference);
}

async function deleteAll(objects: readonly KubeObject[], context: ReconcileContext): Promise<void> {
  for (const object of objects)
    if (object.metadata.deletionTimestamp === undefined) await context.client.delete(object);
}

/** Returns what still exists, or undefined. */
async function deleteReferenced(referenced: Referenced, context: ReconcileContext): Promise<string | undefined> {
  if (referenced.state === "unresolved" && unreadable(referenced, context))
    return `* ${referenceText(referenced.reference)} cannot be read: ${referenced.message}`;
  if (referenced.state !== "found") return undefined;
  await deleteAll([referenced.object], context);
  return remaining([referenced.object]);
}

const MAX_NAMES = 3;

function remaining(objects: readonly KubeObject[]): string {
  const byKind = new Map<string, string[]>();
  for (const object of objects)
    byKind.set(object.kind, [...new Set([...(byKind.get(object.kind) ?? []), object.metadata.name ?? ""])]);
  return [...byKind]
    .map(([kind, names]) => {
      const more = names.length > MAX_NAMES ? `, ... (${names.length - MAX_NAMES} more)` : "";
      return `* ${kind}: ${names.slice(0, MAX_NAMES).join(", ")}${more}`;
    })
    .join("\n");
}

async function release({ cluster }: ClusterScope, context: ReconcileContext): Promise<void> {
  if (!hasFinalizer(cluster, CLUSTER_FINALIZER)) return;
  await releaseFinalizer(context.client, cluster, CLUSTER_FINALIZER);
  context.recorder.event(cluster, "Normal", "Deleted", "Delete", "Cluster has been deleted");
}
