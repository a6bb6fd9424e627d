import { pausedCondition } from "@capstan/capi";
import { done, type ReconcileContext, type Result, requeueAfter } from "@capstan/runtime";
import { identity, placedObject } from "./identity.ts";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { Placement } from "./placement/placement.ts";
import { FINALIZER, type HostedControlPlanes } from "./planes.ts";
import { controlPlaneStatus } from "./status.ts";

/** What is on its way out is looked at again after this, when no watch told before. */
const RECHECK_MS = 2_000;

/** Removes a control plane, but not its backups. It never calls the workload cluster, which may no longer be reachable. */
export async function removeControlPlane(
  object: HostedControlPlane,
  owner: string,
  placement: Placement | undefined,
  context: ReconcileContext,
  planes: HostedControlPlanes,
): Promise<Result> {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) return done();
  const tell = async (message: string): Promise<void> => {
    const paused = pausedCondition(object, undefined);
    const progress = { step: "deleting", message } as const;
    const type = object.spec.placement?.type ?? planes.defaultPlacement;
    const { status } = controlPlaneStatus({ object, progress, paused, placement: type, nowMs: context.clock.now() });
    const desired = { ...identity(object), status } as HostedControlPlane;
    await context.client.ensure(desired, object, { subresource: "status" });
  };
  let left: string[];
  try {
    left = (await placement?.remove(owner, placedObject(object))) ?? [];
  } catch (error) {
    await tell(`Removing it failed and is tried again: ${error instanceof Error ? error.message : String(error)}`);
    throw error;
  }
  planes.prepared.delete(owner);
  planes.settled?.delete(owner);
  if (left.length > 0) {
    await tell(`Waiting for ${left.join(", ")} to end`);
    return requeueAfter(RECHECK_MS);
  }
  await context.client.patch(object, {
    metadata: {
      finalizers: finalizers.filter((name) => name !== FINALIZER),
      resourceVersion: object.metadata.resourceVersion,
    },
  });
  return done();
}
