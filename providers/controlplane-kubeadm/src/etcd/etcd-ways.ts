import type { ClusterKey } from "@capstan/capi";
import type { EtcdClient } from "@capstan/etcd";

/** A control plane Machine as a place where a member of etcd answers. */
export interface EtcdPlace {
  /** Empty for a member that runs on no Machine of the control plane. */
  readonly machine: string;
  readonly nodeName: string;
  /** Addresses from the Machine's status: the direct way, on port 2379. */
  readonly addresses: readonly string[];
}

/**
 * Ways to the members of a cluster's etcd. There are two: through the API's port-forward to the static pod, and directly at the Machine's
 * address. The first that answers is used and remembered, so that neither a stopped kubelet nor a dead endpoint blocks a repair.
 * Simulated control planes register themselves as a third way, in process.
 */
export interface EtcdWays {
  /** A client that reaches the member on this Machine's Node; the endpoint to pass to its calls. Rejects with what each way answered. */
  open(cluster: ClusterKey, place: EtcdPlace): Promise<{ readonly client: EtcdClient; readonly endpoint: string }>;
  /** Closes what is open to a cluster. */
  forget(cluster: ClusterKey): void;
}
