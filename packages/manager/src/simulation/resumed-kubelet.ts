import { CLUSTER_NAME_LABEL, type WorkloadClusters } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import { ByoMachine } from "@capstan/infra-byoh";
import { BareMetalHost, Metal3Machine } from "@capstan/infra-metal3";
import type { Cache, Kind, ObjectKey } from "@capstan/runtime";
import { type Kubelet, kubeletOver } from "@capstan/workloads";

/**
 * The kubelets of hosts in memory that joined before this process started. A real one has its certificate on its disk; of these only
 * the objects are left, which say what cluster they are in, so they go on over the manager's own connection.
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
    return this.#of(ByoMachine, host.spec?.machineRef);
  }

  /** Of a bare-metal host. Throws while its cluster cannot be reached. */
  ofMetal(host: { namespace: string; name: string }): Kubelet {
    return this.#of(Metal3Machine, this.#cache.get(BareMetalHost, host)?.spec.consumerRef);
  }

  #of(kind: Kind<ByoMachine> | Kind<Metal3Machine>, ref: Partial<ObjectKey> | undefined): Kubelet {
    const { namespace = "", name = "" } = ref ?? {};
    const machine = this.#cache.get(kind as Kind<ByoMachine>, { namespace, name });
    const cluster = machine?.metadata.labels?.[CLUSTER_NAME_LABEL];
    if (cluster === undefined) throw new Error(`${kind.kind} ${namespace}/${name} does not say which cluster it is in`);
    const connection = this.#workload().get({ namespace, name: cluster });
    if (connection.state !== "connected") throw new Error(`cluster ${cluster} does not answer: ${connection.error}`);
    return kubeletOver(connection.client);
  }
}
