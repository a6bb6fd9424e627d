import type { KubeObject } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, type WorkloadClusters } from "@capstan/capi";
import { type Kubelet, kubeletOver } from "./kubelet.ts";

/**
 * The kubelet of a machine in memory that joined before this process started. A real one has its certificate on its disk; here only the
 * infrastructure machine is left, which says which cluster it is in, so the kubelet uses the manager's own connection. That may do
 * everything in the cluster: it is looked up in the namespace of the machine, which the caller must have found in that of the host. Throws
 * while the cluster cannot be reached.
 */
export function resumedKubelet(machine: KubeObject | undefined, workload: WorkloadClusters): Kubelet {
  const cluster = machine?.metadata.labels?.[CLUSTER_NAME_LABEL];
  if (machine === undefined || cluster === undefined)
    throw new Error(
      `${machine?.kind ?? "the machine"} ${machine?.metadata.name ?? ""} does not say which cluster it is in`,
    );
  const connection = workload.get({ namespace: machine.metadata.namespace ?? "", name: cluster });
  if (connection.state !== "connected") throw new Error(`cluster ${cluster} does not answer: ${connection.error}`);
  return kubeletOver(connection.client);
}
