import { pausedCondition } from "@capstan/capi";
import {
  done,
  hasFinalizer,
  type ReconcileContext,
  type Result,
  releaseFinalizer,
  requeueAfter,
} from "@capstan/runtime";
import { identity, placedObject } from "./identity.ts";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { Placement } from "./placement/placement.ts";
import { FINALIZER, type HostedControlPlanes } from "./planes.ts";
import { controlPlaneStatus } from "./status.ts";

/** A removal in progress is checked again after this time if no watch event comes earlier. */
const RECHECK_MS = 2_000;

/** Removes a control plane, but not its backups. It never calls the workload cluster, which may no longer be reachable. */
export async function removeControlPlane(
  object: HostedControlPlane,
  owner: string,
  placement: Placement | undefined,
  context: ReconcileContext,
  planes: HostedControlPlanes,
): Promise<Result> {
  if (!hasFinalizer(object, FINALIZER)) return done();
  const tell = async (message: string): Promise<void> => {
    const paused = pausedCondition(object, undefined);
    const progress = { step: "deleting", message } as const;
    const type = object.spec.placement?.type ?? planes.defaultPlacement;
    const { status } = controlPlaneStatus({ object, progress, paused, placement: type, nowMs: context.clock.now() });
    const desired = { ...identity(object), status } as HostedControlPlane;
    await context.ensureStatus(desired, object);
  };
  let left: string[];
  try {
    left = (await placement?.remove(owner, placedObject(object))) ?? [];
  } catch (error) {
    await tell(
      `Removing the control plane failed and will be retried: ${error instanceof Error ? error.message : String(error)}`,
    );
    throw error;
  }
  planes.prepared.delete(owner);
  planes.settled?.delete(owner);
  if (left.length > 0) {
    await tell(`Waiting for ${left.join(", ")} to be deleted`);
    return requeueAfter(RECHECK_MS);
  }
  await releaseFinalizer(context.client, object, FINALIZER);
  return done();
}
