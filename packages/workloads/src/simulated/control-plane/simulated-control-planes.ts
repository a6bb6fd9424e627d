import type { Clock, Random } from "@capstan/apimachinery";
import type { ClusterKey } from "@capstan/capi";
import type { EtcdClient, EtcdInProcess } from "@capstan/etcd";
import type { EmbeddedClusters } from "../../embedded/embedded-clusters.ts";
import { PlaneMachine, type PlaneMachineFacts } from "./plane-machine.ts";
import { SimulatedPlane } from "./simulated-plane.ts";

/** Dependencies of simulated control planes. */
export interface SimulatedControlPlanesOptions {
  /** Serves their APIs. */
  readonly embedded: EmbeddedClusters;
  readonly clock: Clock;
  readonly random: Random;
}

/** The control planes whose machines are simulated in this process: an API and an etcd per cluster, with a member per machine. */
export class SimulatedControlPlanes implements EtcdInProcess {
  readonly #options: SimulatedControlPlanesOptions;
  readonly #planes = new Map<string, SimulatedPlane>();

  constructor(options: SimulatedControlPlanesOptions) {
    this.#options = options;
  }

  /** A control plane machine of a cluster, which does nothing before it is started. */
  machine(cluster: ClusterKey, facts: PlaneMachineFacts): PlaneMachine {
    return new PlaneMachine(this.#plane(cluster), facts);
  }

  find(cluster: ClusterKey, nodeName: string): { readonly client: EtcdClient; readonly endpoint: string } | undefined {
    const plane = this.#planes.get(keyOf(cluster));
    return plane === undefined ? undefined : { client: plane.etcdClient, endpoint: plane.endpointOf(nodeName) };
  }

  /** Notes that a machine and its disk are deleted, also one that this process has not started. */
  async destroyed(cluster: ClusterKey, machine: string): Promise<void> {
    await this.#plane(cluster).destroy(machine);
  }

  /** Deletes what is left of a cluster. */
  async remove(cluster: ClusterKey): Promise<void> {
    await this.#plane(cluster).remove();
    this.#planes.delete(keyOf(cluster));
  }

  /** Stops what runs in the background; the embedded clusters stay. */
  close(): void {
    for (const plane of this.#planes.values()) plane.stop();
    this.#planes.clear();
  }

  #plane(cluster: ClusterKey): SimulatedPlane {
    let plane = this.#planes.get(keyOf(cluster));
    if (plane === undefined) {
      plane = new SimulatedPlane(cluster, this.#options);
      this.#planes.set(keyOf(cluster), plane);
    }
    return plane;
  }
}

function keyOf({ namespace, name }: ClusterKey): string {
  return `${namespace}/${name}`;
}
