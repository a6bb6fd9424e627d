import {
  type ApiRequest,
  type ApiResponse,
  type Clock,
  seededRandom,
  type Transport,
  type VirtualClock,
} from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { Client, openDialGate, silentLogger } from "@capstan/runtime";
import { type execInPod, HostClusters, SimulatedEtcd } from "@capstan/workloads";
import { PodCluster, type PodRunner, podData, podThings } from "@capstan/workloads/testing";
import { isRestore } from "../contract-suite/is-restore.ts";
import type { PlacementWorld } from "../contract-suite/placement-cases.ts";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";
import { PodsPlacement } from "../placement/pods/pods.ts";

/** A cluster in memory whose pods are simulated, and the placement that uses it as management cluster. */
export class PodsWorld implements PlacementWorld {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly client: Client;
  readonly runner: PodRunner;
  readonly spec: Partial<HostedControlPlaneSpec> = { expose: { type: "LoadBalancer" } };
  readonly hosts: HostClusters[] = [];
  readonly etcd = new SimulatedEtcd();
  /** What pods received, as `POD COMMAND`, and the bytes. */
  readonly handed: { pod: string; command: readonly string[]; bytes: string }[] = [];
  readonly placement: PodsPlacement;
  readonly #cluster: PodCluster;

  private constructor(cluster: PodCluster) {
    this.#cluster = cluster;
    this.clock = cluster.clock;
    this.server = cluster.server;
    this.client = cluster.client;
    this.runner = cluster.runner;
    this.placement = this.#placement();
  }

  static async open(): Promise<PodsWorld> {
    return new PodsWorld(await PodCluster.open({ receives: isRestore }));
  }

  things(owner: string): Promise<string[]> {
    return podThings(this.client, owner);
  }

  dataOf(owner: string): Promise<string | undefined> {
    return podData(this.client, owner);
  }

  again(clock: Clock = this.clock): Promise<PodsPlacement> {
    return Promise.resolve(this.#placement(clock));
  }

  /** The placement of a manager that is killed after some writes. */
  dying(writes: number): { placement: PodsPlacement; transport: DyingTransport } {
    const transport = new DyingTransport(this.server.admin(), writes);
    return { placement: this.#placement(this.clock, transport), transport };
  }

  progress(): Promise<void> {
    return this.#cluster.progress();
  }

  async close(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.stop()));
    await this.#cluster.close();
  }

  /** With a clock of its own for what it decides by time. */
  #placement(own: Clock = this.clock, transport: Transport = this.server.admin()): PodsPlacement {
    const { clock } = this;
    const random = seededRandom(2);
    const management = new Client(transport, { fieldManager: "capstan", clock });
    const hosts = new HostClusters({
      management,
      fieldManager: "capstan",
      clock,
      random,
      log: silentLogger,
      gate: openDialGate(),
    });
    this.hosts.push(hosts);
    const exec: typeof execInPod = async (_client, pod, command, input) => {
      const bytes = Buffer.concat((await input.toArray()) as Buffer[]).toString();
      this.handed.push({ pod: pod.name, command, bytes });
      this.runner.received.add(pod.name);
    };
    const etcdClient = () => this.etcd;
    return new PodsPlacement({ hosts, management, clock: own, random, log: silentLogger, etcdClient, exec });
  }
}

/** Lets a number of writes through; after them nothing leaves this process any more. */
class DyingTransport implements Transport {
  writes = 0;
  readonly #inner: Transport;
  readonly #last: number;

  constructor(inner: Transport, last: number) {
    this.#inner = inner;
    this.#last = last;
  }

  get dead(): boolean {
    return this.writes >= this.#last;
  }

  async request(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    if (this.dead) return KILLED;
    const response = await this.#inner.request(request, signal);
    if (request.method !== "GET") this.writes++;
    return this.dead ? KILLED : response;
  }

  watch(...[request, signal]: Parameters<Transport["watch"]>): ReturnType<Transport["watch"]> {
    return this.#inner.watch(request, signal);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

const KILLED: ApiResponse = {
  status: 500,
  headers: {},
  warnings: [],
  body: { apiVersion: "v1", kind: "Status", metadata: {}, status: "Failure", message: "killed", code: 500 },
};
