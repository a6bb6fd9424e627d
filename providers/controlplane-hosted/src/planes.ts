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
  /** Digest of the objects last written into each workload cluster. */
  prepared: Map<string, string>;
  /** The last plan of each control plane that was fully applied; used while the current spec is rejected. */
  settled?: Map<string, ControlPlanePlan>;
  /** The clusters' Nodes, whose kubelets an upgrade must not leave behind. */
  workload?: WorkloadClusters;
  /** Where backups are kept on this machine; without it there are none. */
  backupDir?: string;
  /** Which addresses are dialled for endpoints and stores that objects name. */
  gate: DialGate;
  /** Another way to reach a new API than over the network, where there is one. */
  dial?: (config: ClientConfig) => Transport | undefined;
  /** The addresses behind a name, for endpoints that are one. */
  resolve?: (host: string) => Promise<readonly string[]>;
  /** Signs cluster-info for tokens as they appear. */
  signer?: { start(signal: AbortSignal): void };
}
