import type { Clock, Random, Transport } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { Client, type ClientConfig, httpTransport, kubeconfigFromText, type Logger } from "@capstan/runtime";
import { HostCluster } from "./host-cluster.ts";

/** What HostClusters needs to connect to the clusters that run the pods of control planes. */
export interface HostClustersOptions {
  /** The management cluster, when it runs pods. */
  management: Client | undefined;
  fieldManager: string;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Decides which addresses of kubeconfigs may be dialled. */
  gate: DialGate;
  /** Another way to reach a server than over the network, where there is one. */
  dial?: (config: ClientConfig) => Transport | undefined;
}

const MANAGEMENT = "";
/** Of a kind in one such cluster that belong to control planes. */
const MAX_OBJECTS = 50_000;

interface Connection {
  kubeconfig: string;
  cluster: HostCluster;
  /** The owners of pods there; without any the connection is closed. */
  owners: Set<string>;
}

/** Shares one connection per host cluster, the management cluster or one named by a kubeconfig, while any owner runs pods there. */
export class HostClusters {
  readonly #options: HostClustersOptions;
  readonly #clusters = new Map<string, Connection>();
  readonly #listeners = new Set<(owner: string) => void>();

  constructor(options: HostClustersOptions) {
    this.#options = options;
  }

  /** The management cluster for an owner; undefined when nothing runs pods there. */
  management(owner: string): HostCluster | undefined {
    const { management } = this.#options;
    return management === undefined ? undefined : this.#open(owner, MANAGEMENT, "", management);
  }

  /**
   * The cluster of a kubeconfig for an owner; `name` says where that came from, and another text under the same name replaces the
   * connection.
   */
  async named(owner: string, name: string, kubeconfig: string): Promise<HostCluster> {
    const { clock, fieldManager, dial, gate } = this.#options;
    const known = this.#clusters.get(name);
    if (known?.kubeconfig === kubeconfig) {
      known.owners.add(owner);
      return known.cluster;
    }
    const config = await kubeconfigFromText(kubeconfig, { clock, gate });
    const transport = dial?.(config) ?? httpTransport(config, { clock });
    const client = new Client(transport, { fieldManager, clock, maxObjects: MAX_OBJECTS });
    return this.#open(owner, name, kubeconfig, client, () => transport.close());
  }

  /** Called when an owner has no pods any more; closes connections without owners. */
  release(owner: string): void {
    for (const [name, { owners, cluster }] of this.#clusters) {
      if (!owners.delete(owner) || owners.size > 0) continue;
      this.#clusters.delete(name);
      void cluster.stop();
    }
  }

  /** Calls back with the owner of what has changed. Returns a function that unsubscribes. */
  subscribe(listener: (owner: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    const all = [...this.#clusters.values()];
    this.#clusters.clear();
    await Promise.all(all.map(({ cluster }) => cluster.stop()));
  }

  #open(owner: string, name: string, kubeconfig: string, client: Client, close?: () => Promise<void>): HostCluster {
    const known = this.#clusters.get(name);
    // Two callers may have dialled at the same time.
    if (known?.kubeconfig === kubeconfig) {
      known.owners.add(owner);
      void close?.();
      return known.cluster;
    }
    void known?.cluster.stop();
    const { clock, random, log } = this.#options;
    const changed = (owner: string): void => {
      for (const listener of this.#listeners) listener(owner);
    };
    const cluster = new HostCluster({ client, clock, random, log, changed, close });
    this.#clusters.set(name, { kubeconfig, cluster, owners: new Set([...(known?.owners ?? []), owner]) });
    return cluster;
  }
}
