import type { KubeObject } from "@capstan/apimachinery";
import type { Client } from "@capstan/runtime";

/** Connections to workload clusters: one per cluster, shared by all controllers, with a live view of its Nodes. */
export interface WorkloadClusters {
  get(cluster: ClusterKey): WorkloadConnection;
  /**
   * The API at the Machines of the control plane, for repairs of a cluster whose endpoint is down: everything else needs the endpoint, and
   * has to see that it does not answer. The same as `get` while the endpoint answers, and where there are no such Machines.
   */
  atMachines?(cluster: ClusterKey): WorkloadConnection;
  /** Calls back when the connection's state or any of its Nodes changes. Returns a function that unsubscribes. */
  subscribe(listener: (cluster: ClusterKey, nodeName: string | undefined) => void): () => void;
}

/** Namespace and name of a Cluster. */
export interface ClusterKey {
  namespace: string;
  name: string;
}

/** The state of the connection to a workload cluster; client and Nodes are available only while it is connected. */
export type WorkloadConnection =
  /** `since`: start of the current connection; Nodes have been watched without a gap from then on. */
  | { state: "connected"; since: number; client: Client; nodes: NodeView }
  /** `connecting`: there is no kubeconfig Secret yet, or the first connection is still within CONNECTING_MS. */
  | { state: "connecting" | "down"; since: number; error: string };

/** Reads the Nodes of a workload cluster from the watch's cache. */
export interface NodeView {
  list(): readonly Node[];
  get(name: string): Node | undefined;
  byProviderID(providerID: string): Node | undefined;
}

/** The fields of a core/v1 Node that controllers read. */
export interface Node extends KubeObject {
  spec?: { providerID?: string; unschedulable?: boolean; podCIDR?: string; taints?: NodeTaint[] };
  status?: {
    conditions?: { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }[];
    nodeInfo?: Record<string, string>;
    addresses?: { type: string; address: string }[];
    volumesAttached?: { name: string; devicePath: string }[];
  };
}

/** A taint in the spec of a core/v1 Node. */
export interface NodeTaint {
  key: string;
  value?: string;
  effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  timeAdded?: string;
}
