import type { DialGate } from "@capstan/apimachinery/foreign";
import { type Cluster, type ConditionInput, ownerCluster, pausedCondition } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { Placement } from "./placement/placement.ts";
import type { HostedControlPlanes, PlacementType } from "./planes.ts";

/** Everything that one reconcile of a HostedControlPlane starts from. */
export interface ControlPlaneScope {
  readonly object: HostedControlPlane;
  /** The same object, with the endpoint once this reconcile has written it. */
  readonly current: HostedControlPlane;
  /** `NAMESPACE/NAME` of the HostedControlPlane. */
  readonly owner: string;
  /** The Cluster that owns it; undefined until there is one. */
  readonly cluster: Cluster | undefined;
  readonly paused: ConditionInput;
  readonly type: PlacementType;
  /** Undefined if this manager does not offer the placement. */
  readonly placement: Placement | undefined;
  /** Whether the control plane has served before. */
  readonly initialized: boolean;
  /** Where backups are stored; undefined if this manager keeps none. */
  readonly backups: { dir: string; gate: DialGate } | undefined;
  readonly context: ReconcileContext;
  readonly planes: HostedControlPlanes;
}

/** The scope of a control plane that has a Cluster and a placement. */
export type OwnedScope = ControlPlaneScope & { readonly cluster: Cluster; readonly placement: Placement };

/** Reads everything that a HostedControlPlane refers to from the cache. */
export function readControlPlane(
  object: HostedControlPlane,
  context: ReconcileContext,
  planes: HostedControlPlanes,
): ControlPlaneScope {
  const cluster = ownerCluster(context.cache, object);
  const type = object.spec.placement?.type ?? planes.defaultPlacement;
  return {
    object,
    current: object,
    owner: `${object.metadata.namespace ?? ""}/${object.metadata.name ?? ""}`,
    cluster,
    paused: pausedCondition(object, cluster),
    type,
    placement: planes.placements[type],
    initialized: object.status?.initialization?.controlPlaneInitialized === true,
    backups: planes.backupDir === undefined ? undefined : { dir: planes.backupDir, gate: planes.gate },
    context,
    planes,
  };
}

/** Returns the namespace and name of the Cluster, which the names of its Secrets follow from. */
export function clusterKeyOf({ object, cluster }: OwnedScope): { namespace: string; name: string } {
  return { namespace: object.metadata.namespace ?? "", name: cluster.metadata.name ?? "" };
}
