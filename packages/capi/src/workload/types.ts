import type { KubeObject } from "@capstan/apimachinery";
import type { Client } from "@capstan/runtime";

/** Connections to workload clusters: one per cluster, shared by all controllers, with a live view of its Nodes. */
export interface WorkloadClusters {
  get(cluster: ClusterKey): WorkloadConnection;
  /** Calls back when the connection's state or any of its Nodes changes. Returns a function that unsubscribes. */
  subscribe(listener: (cluster: ClusterKey, nodeName: string | undefined) => void): () => void;
}

export interface ClusterKey {
  namespace: string;
  name: string;
}

export type WorkloadConnection =
  /** `since`: from when on the Nodes have been followed without a gap. */
  | { state: "connected"; since: number; client: Client; nodes: NodeView }
  /** `connecting`: this process has not reached it yet and is still within the time that a restart may take. */
  | { state: "connecting" | "down"; since: number; error: string };

/** The Nodes of a workload cluster as the watch last showed them. */
export interface NodeView {
  list(): readonly Node[];
  get(name: string): Node | undefined;
  byProviderID(providerID: string): Node | undefined;
}

export interface Node extends KubeObject {
  spec?: { providerID?: string; unschedulable?: boolean; podCIDR?: string; taints?: NodeTaint[] };
  status?: {
    conditions?: { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }[];
    nodeInfo?: Record<string, string>;
    addresses?: { type: string; address: string }[];
    volumesAttached?: { name: string; devicePath: string }[];
  };
}

export interface NodeTaint {
  key: string;
  value?: string;
  effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  timeAdded?: string;
}
