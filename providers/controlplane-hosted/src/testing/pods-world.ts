import {
  type ApiRequest,
  type ApiResponse,
  type Clock,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Client, openDialGate, silentLogger } from "@capstan/runtime";
import { type execInPod, HostClusters } from "@capstan/workloads";
import { FakeEtcd } from "../contract-suite/fake-etcd.ts";
import type { PlacementWorld } from "../contract-suite/placement-cases.ts";
import { PodRunner } from "../contract-suite/pod-runner.ts";
import { podData, podThings } from "../contract-suite/pod-things.ts";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";
import { PodsPlacement } from "../placement/pods/pods.ts";

/** A cluster in memory that is played to run pods, and the placement that uses it as management cluster. */
export class PodsWorld implements PlacementWorld {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly client: Client;
  readonly runner: PodRunner;
  readonly spec: Partial<HostedControlPlaneSpec> = { expose: { type: "LoadBalancer" } };
  readonly hosts: HostClusters[] = [];
  readonly etcd = new FakeEtcd();
  /** What pods were handed, as `POD COMMAND`, and the bytes. */
  readonly handed: { pod: string; command: readonly string[]; bytes: string }[] = [];
  readonly placement: PodsPlacement;

  private constructor(clock: VirtualClock, server: ApiServer) {
    this.clock = clock;
    this.server = server;
    this.client = new Client(server.admin(), { fieldManager: "test", clock });
    this.runner = new PodRunner(this.client, { controllerManager: false });
    this.placement = this.#placement();
  }

  static async open(): Promise<PodsWorld> {
    const clock = new VirtualClock();
    const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
    const world = new PodsWorld(clock, server);
    await world.client.create(NETWORK_POLICY_KIND);
    await world.progress();
    return world;
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

  async progress(): Promise<void> {
    await this.runner.step();
    await this.clock.advance(10);
  }

  async close(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.stop()));
    await this.server.close();
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

/** The server in memory does not know this one kind by itself. */
const NETWORK_POLICY_KIND: Unstructured = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "networkpolicies.networking.k8s.io",
    annotations: { "api-approved.kubernetes.io": "unapproved, for tests" },
  },
  spec: {
    group: "networking.k8s.io",
    scope: "Namespaced",
    names: {
      kind: "NetworkPolicy",
      plural: "networkpolicies",
      singular: "networkpolicy",
      listKind: "NetworkPolicyList",
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
