import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Client } from "@capstan/runtime";
import { PodRunner, type PodRunnerOptions } from "./pod-runner.ts";

/** A cluster in memory and in virtual time whose controllers and nodes a PodRunner simulates. */
export class PodCluster {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly client: Client;
  readonly runner: PodRunner;

  private constructor(clock: VirtualClock, server: ApiServer, options: PodRunnerOptions) {
    this.clock = clock;
    this.server = server;
    this.client = new Client(server.admin(), { fieldManager: "test", clock });
    this.runner = new PodRunner(this.client, options);
  }

  /** Starts the cluster. */
  static async open(options: Omit<PodRunnerOptions, "controllerManager"> = {}): Promise<PodCluster> {
    const clock = new VirtualClock();
    const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
    const cluster = new PodCluster(clock, server, { ...options, controllerManager: false });
    await cluster.client.create(NETWORK_POLICIES);
    await cluster.progress();
    return cluster;
  }

  /** Does what controllers and nodes have to do, and lets watches deliver it. */
  async progress(): Promise<void> {
    await this.runner.step();
    await this.clock.advance(10);
  }

  /** Stops the cluster. */
  close(): Promise<void> {
    return this.server.close();
  }
}

/** The one kind that the embedded API does not serve by itself. */
export const NETWORK_POLICIES: Unstructured = {
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
