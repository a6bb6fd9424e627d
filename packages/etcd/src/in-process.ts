import type { EtcdClient } from "./client.ts";

/** Finds members of etcd that run in this process: those of simulated control plane machines. */
export interface EtcdInProcess {
  /**
   * A client of the member on a Node, and the endpoint to pass to its calls; undefined if this process does not simulate the cluster's
   * control plane. The client's calls reject as a member's would that is powered off or has no quorum.
   */
  find(
    cluster: { readonly namespace: string; readonly name: string },
    nodeName: string,
  ): { readonly client: EtcdClient; readonly endpoint: string } | undefined;
}
