import type { Transport } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import type { WorkloadClusters } from "@capstan/capi";
import type { ClientConfig } from "@capstan/runtime";
import type { ControlPlanePlan, Placement } from "./placement/placement.ts";

/** Finalizer of a HostedControlPlane; removed once all its resources are deleted. */
export const FINALIZER = "hosted.controlplane.cluster.x-k8s.io";

/** Where the components of a control plane run. */
export type PlacementType = "Pods" | "Process" | "Embedded";

/** Dependencies of the controller, and state that it keeps between reconciles and may lose at any time. */
export interface HostedControlPlanes {
  placements: Partial<Record<PlacementType, Placement>>;
  defaultPlacement: PlacementType;
  /** Digest of the objects last applied to each workload cluster. */
  prepared: Map<string, string>;
  /** The last plan of each control plane that was fully applied; used while the current spec is rejected. */
  settled?: Map<string, ControlPlanePlan>;
  /** The clusters' Nodes; an upgrade must not exceed the version skew of their kubelets. */
  workload?: WorkloadClusters;
  /** Folder of backups on this machine; without it there are no backups. */
  backupDir?: string;
  /** Decides which addresses of endpoints and backup stores may be dialed. */
  gate: DialGate;
  /** Reaches a new API without the network, if possible. */
  dial?: (config: ClientConfig) => Transport | undefined;
  /** Resolves host names of endpoints. */
  resolve?: (host: string) => Promise<readonly string[]>;
  /** Signs cluster-info for new tokens. */
  signer?: { start(signal: AbortSignal): void };
}
