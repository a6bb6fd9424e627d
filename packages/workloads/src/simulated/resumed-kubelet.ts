import type { KubeObject } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, type WorkloadClusters } from "@capstan/capi";
import { type Kubelet, kubeletOver } from "./kubelet.ts";

/**
 * Recreates the kubelet of a simulated machine that joined before this process started; throws while its cluster is unreachable. Its
 * certificate is lost, so it uses the manager's admin connection: the caller must have found machine and host in one namespace.
 */
export function resumedKubelet(machine: KubeObject | undefined, workload: WorkloadClusters): Kubelet {
  const cluster = machine?.metadata.labels?.[CLUSTER_NAME_LABEL];
  if (machine === undefined || cluster === undefined)
    throw new Error(
      `${machine?.kind ?? "the machine"} ${machine?.metadata.name ?? ""} does not say which cluster it is in`,
    );
  const connection = workload.get({ namespace: machine.metadata.namespace ?? "", name: cluster });
  if (connection.state !== "connected") throw new Error(`cluster ${cluster} does not respond: ${connection.error}`);
  return kubeletOver(connection.client);
}
