import { systemClock, systemRandom } from "@capstan/apimachinery";
import { PodsPlacement, type PodsPlacementOptions } from "@capstan/controlplane-hosted";
import { isRestore, type PlacementWorld } from "@capstan/controlplane-hosted/contract-suite";
import { Client, httpTransport, loadKubeconfig, openDialGate, silentLogger } from "@capstan/runtime";
import { HostClusters, SimulatedEtcd } from "@capstan/workloads";
import { PodRunner, podData, podThings } from "@capstan/workloads/testing";
import { type RealKubernetes, startKubeApiserver } from "../real-kubernetes/index.ts";

type Spec = PlacementWorld["spec"];

/** A real kube-apiserver and kube-controller-manager whose nodes are played. */
export class RealHost {
  readonly real: RealKubernetes;
  readonly client: Client;
  readonly #close: () => Promise<void>;

  private constructor(real: RealKubernetes, client: Client, close: () => Promise<void>) {
    this.real = real;
    this.client = client;
    this.#close = close;
  }

  static async start(): Promise<RealHost> {
    const real = await startKubeApiserver({ controllerManager: true });
    const config = await loadKubeconfig({ clock: systemClock, path: real.kubeconfigFile });
    const transport = httpTransport(config, { clock: systemClock });
    // A field that Kubernetes does not know is a mistake of ours.
    const client = new Client(transport, { fieldManager: "capstan", clock: systemClock, fieldValidation: "Strict" });
    return new RealHost(real, client, async () => {
      await transport.close();
      await real.stop();
    });
  }

  /** The placement over this cluster, and what its tests need. */
  world(spec: Spec): PlacementWorld & { placement: PodsPlacement; runner: PodRunner } {
    const { client } = this;
    const runner = new PodRunner(client, { controllerManager: true, receives: isRestore });
    const opened: HostClusters[] = [];
    const make = (): PodsPlacement => {
      const deps = { clock: systemClock, random: systemRandom, log: silentLogger };
      const hosts = new HostClusters({ gate: openDialGate(), management: client, fieldManager: "capstan", ...deps });
      opened.push(hosts);
      const exec: PodsPlacementOptions["exec"] = async (_client, pod, _command, input) => {
        await input.toArray();
        runner.received.add(pod.name);
      };
      return new PodsPlacement({ hosts, management: client, ...deps, etcdClient: () => new SimulatedEtcd(), exec });
    };
    const placement = make();
    const progress = async (): Promise<void> => {
      await runner.step();
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    return {
      placement,
      runner,
      clock: systemClock,
      spec,
      again: () => Promise.resolve(make()),
      progress,
      things: (owner) => podThings(client, owner),
      dataOf: (owner) => podData(client, owner),
      close: async () => {
        const placed = { spec: { version: "v1.37.1", ...spec } };
        for (const owner of ["default/c1", "default/c2"])
          while ((await placement.remove(owner, placed)).length > 0) await progress();
        await Promise.all(opened.map((hosts) => hosts.stop()));
      },
    };
  }

  stop(): Promise<void> {
    return this.#close();
  }
}
