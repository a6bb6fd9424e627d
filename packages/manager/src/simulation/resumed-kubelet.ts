import { CLUSTER_NAME_LABEL, resolveReference, type WorkloadClusters } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import { ByoMachine } from "@capstan/infra-byoh";
import { BareMetalHost, Metal3Machine } from "@capstan/infra-metal3";
import type { Cache, Kind, ObjectKey } from "@capstan/runtime";
import { type Kubelet, kubeletOver } from "@capstan/workloads";

/**
 * The kubelets of hosts in memory that joined before this process started. A real one has its certificate on its disk; of these only
 * the objects are left, which say what cluster they are in, so they go on over the manager's own connection. That can do everything in
 * a cluster: a host acts in clusters of its own namespace only, whatever it says.
 */
export class ResumedKubelets {
  readonly #cache: Cache;
  readonly #workload: () => WorkloadClusters;

  constructor(cache: Cache, workload: () => WorkloadClusters) {
    this.#cache = cache;
    this.#workload = workload;
  }

  /** Of an own host. Throws while its cluster cannot be reached. */
  ofOwn(host: ByoHost): Kubelet {
    return this.#of(ByoMachine, host.metadata, host.spec?.machineRef, "spec.machineRef");
  }

  /** Of a bare-metal host. Throws while its cluster cannot be reached. */
  ofMetal(host: { namespace: string; name: string }): Kubelet {
    const { consumerRef } = this.#cache.get(BareMetalHost, host)?.spec ?? {};
    return this.#of(Metal3Machine, host, consumerRef, "spec.consumerRef");
  }

  #of(
    kind: Kind<ByoMachine> | Kind<Metal3Machine>,
    host: { namespace?: string },
    reference: Partial<ObjectKey> | undefined,
    field: string,
  ): Kubelet {
    const target = resolveReference({ metadata: host }, reference ?? {}, field);
    if ("problem" in target) throw new Error(target.problem);
    const { namespace, name } = target;
    const machine = this.#cache.get(kind as Kind<ByoMachine>, target);
    const cluster = machine?.metadata.labels?.[CLUSTER_NAME_LABEL];
    if (cluster === undefined) throw new Error(`${kind.kind} ${namespace}/${name} does not say which cluster it is in`);
    const connection = this.#workload().get({ namespace, name: cluster });
    if (connection.state !== "connected") throw new Error(`cluster ${cluster} does not answer: ${connection.error}`);
    return kubeletOver(connection.client);
  }
}
