import { CLUSTER_NAME_LABEL } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";
import { KVMCluster } from "./kinds/kvm-cluster.ts";
import { KVMMachine } from "./kinds/kvm-machine.ts";
import type { PlacementType } from "./kinds/machine-fields.ts";
import type { Key } from "./names.ts";
import type { Placement } from "./placement/placement.ts";

const BY_CLUSTER = "kvm-by-cluster";

/** The placements of machines, and what the management cluster says of machines. */
export class Backend {
  readonly #placements: Readonly<Record<PlacementType, Placement>>;
  readonly #clusterListeners = new Set<(cluster: Key) => void>();
  #cache: Cache | undefined;

  constructor(placements: Readonly<Record<PlacementType, Placement>>) {
    this.#placements = placements;
  }

  /** Adds the index; called once before the cache starts. */
  bind(cache: Cache): void {
    this.#cache = cache;
    const clusterOf = ({ metadata }: KVMMachine | KVMCluster): string[] => {
      const name = metadata.labels?.[CLUSTER_NAME_LABEL];
      return name === undefined ? [] : [`${metadata.namespace}/${name}`];
    };
    cache.addIndex<KVMMachine>(KVMMachine, BY_CLUSTER, clusterOf);
    cache.addIndex<KVMCluster>(KVMCluster, BY_CLUSTER, clusterOf);
  }

  placement(type: PlacementType): Placement {
    return this.#placements[type];
  }

  /** The machines of a Cluster, the oldest first. */
  machinesOf({ namespace, name }: Key): KVMMachine[] {
    const found = this.#cache?.byIndex<KVMMachine>(KVMMachine, BY_CLUSTER, `${namespace}/${name}`) ?? [];
    const age = ({ metadata }: KVMMachine): string => `${metadata.creationTimestamp} ${metadata.name}`;
    return [...found].sort((a, b) => (age(a) < age(b) ? -1 : 1));
  }

  /** Has the KVMClusters of a Cluster number their machines. */
  requestIndex({ namespace, name }: Key): void {
    const found = this.#cache?.byIndex<KVMCluster>(KVMCluster, BY_CLUSTER, `${namespace}/${name}`) ?? [];
    for (const { metadata } of found)
      for (const listener of this.#clusterListeners)
        listener({ namespace: metadata.namespace ?? "", name: metadata.name ?? "" });
  }

  watchClusters(changed: (cluster: Key) => void): () => void {
    this.#clusterListeners.add(changed);
    return () => this.#clusterListeners.delete(changed);
  }

  watchMachines(changed: (machine: Key) => void): () => void {
    const stops = Object.values(this.#placements).map((placement) => placement.subscribe(changed));
    return () => {
      for (const stop of stops) stop();
    };
  }

  async close(): Promise<void> {
    for (const placement of Object.values(this.#placements)) await placement.close();
  }
}
