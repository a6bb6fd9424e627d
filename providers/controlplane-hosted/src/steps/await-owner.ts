import { Cluster } from "@capstan/capi";
import { requeueAfter } from "@capstan/runtime";
import { HostedControlPlane } from "../kinds/hosted-control-plane.ts";
import type { ControlPlaneScope, OwnedScope } from "../scope.ts";
import { Outcome, waitFor } from "./outcome.ts";

/** How long the Cluster's controller may take to become the owner before the wait is reported. */
const OWNER_GRACE_MS = 5_000;

/** Waits for a Cluster to own the control plane, and for a placement that this manager offers. */
export function awaitOwner(scope: ControlPlaneScope): OwnedScope | Outcome {
  const { cluster, placement, type, planes } = scope;
  if (cluster === undefined) {
    const dueMs = ownerDueMs(scope);
    if (dueMs > 0) return new Outcome(scope, undefined, requeueAfter(dueMs));
    return waitFor(
      scope,
      "WaitingForCluster",
      "Waiting for a Cluster to name this control plane in spec.controlPlaneRef",
    );
  }
  if (placement === undefined) {
    const message = `This manager does not offer placement ${type}; it offers ${Object.keys(planes.placements).join(", ")}`;
    return waitFor(scope, "PlacementNotAvailable", message);
  }
  return { ...scope, cluster, placement };
}

/** How much longer an owner may be expected: only for a new object that a Cluster of the same name refers to. */
function ownerDueMs({ object, context }: ControlPlaneScope): number {
  const { namespace, name = "", creationTimestamp = "" } = object.metadata;
  const spec = context.cache.get(Cluster, { namespace, name })?.spec;
  const reference = spec?.controlPlaneRef;
  if (spec?.paused === true || reference?.kind !== HostedControlPlane.kind || reference.name !== name) return 0;
  return OWNER_GRACE_MS - (context.clock.now() - Date.parse(creationTimestamp));
}
