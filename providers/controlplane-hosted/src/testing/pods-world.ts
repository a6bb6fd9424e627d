import { type Clock, type KubeObject, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Client, type Kind, silentLogger } from "@capstan/runtime";
import {
  Deployment,
  HOSTED_LABEL,
  HostClusters,
  HostSecret,
  NetworkPolicy,
  OWNER_ANNOTATION,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from "@capstan/workloads";
import type { PlacementWorld } from "../contract-suite/placement-cases.ts";
import { PodRunner } from "../contract-suite/pod-runner.ts";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";
import { PodsPlacement } from "../placement/pods.ts";

const ALL = [
  Deployment,
  StatefulSet,
  Pod,
  Service,
  PodDisruptionBudget,
  NetworkPolicy,
  HostSecret,
  PersistentVolumeClaim,
] as readonly Kind<KubeObject>[];

/** A cluster in memory that is played to run pods, and the placement that uses it as management cluster. */
export class PodsWorld implements PlacementWorld {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly client: Client;
  readonly runner: PodRunner;
  readonly spec: Partial<HostedControlPlaneSpec> = { expose: { type: "LoadBalancer" } };
  readonly hosts: HostClusters[] = [];
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

  /** `KIND NAME UID` of everything of an owner. */
  async things(owner: string): Promise<string[]> {
    const lists = await Promise.all(ALL.map((kind) => this.client.list(kind, { labelSelector: HOSTED_LABEL })));
    return lists
      .flatMap(({ items }) => items)
      .filter((object) => object.metadata.annotations?.[OWNER_ANNOTATION] === owner)
      .map((object) => `${object.kind} ${object.metadata.name} ${object.metadata.uid}`)
      .filter((text) => !text.startsWith("PodDisruptionBudget"))
      .toSorted();
  }

  async dataOf(owner: string): Promise<string | undefined> {
    const claims = (await this.things(owner)).filter((thing) => thing.startsWith("PersistentVolumeClaim"));
    return claims.length === 0 ? undefined : claims.join();
  }

  again(clock: Clock = this.clock): Promise<PodsPlacement> {
    return Promise.resolve(this.#placement(clock));
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
  #placement(own: Clock = this.clock): PodsPlacement {
    const { clock } = this;
    const random = seededRandom(2);
    const management = new Client(this.server.admin(), { fieldManager: "capstan", clock });
    const hosts = new HostClusters({ management, fieldManager: "capstan", clock, random, log: silentLogger });
    this.hosts.push(hosts);
    return new PodsPlacement({ hosts, management, clock: own, random, log: silentLogger });
  }
}

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
