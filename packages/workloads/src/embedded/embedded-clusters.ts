import type { Clock, ConnectionLimits, Random, Transport } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { type ApiServer, createApiServer, memoryStore, type SharedStores } from "@capstan/apiserver";
import { type CertificateAndKey, ownsCertificate, publicKeyPin } from "@capstan/pki";
import type { ClientConfig } from "@capstan/runtime";
import { inProcess } from "./in-process-dial.ts";
import { type EmbeddedListener, startListener } from "./listener.ts";
import { machinesOwnerAt } from "./machines-address.ts";

/** Settings that all embedded clusters of a process share. */
export interface EmbeddedClustersOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: (message: string, error: unknown) => void;
  /** Which addresses are dialled for the webhooks that their administrators register: this process dials them. */
  readonly gate: DialGate;
  /** Where they are served over HTTPS. Without it they are reached in process only, at an address that stands for this process. */
  readonly listen?: {
    readonly host: string;
    readonly port: () => Promise<number>;
    readonly limits?: Partial<ConnectionLimits>;
  };
  /** Where their data is kept; opened when the first cluster needs it. Without it everything is lost with the process. */
  readonly stores?: () => Promise<SharedStores>;
}

/** Settings of one embedded cluster. */
export interface EmbeddedClusterOptions {
  /** Signs the certificates of its nodes, and is published as kube-root-ca.crt. */
  readonly ca: CertificateAndKey;
  /** Issues its serving certificate; called for the first connection. */
  serving(serverName: string): Promise<CertificateAndKey>;
  /** Distinguishes it from an earlier one of the same owner, whose data it must not use. */
  readonly identity?: string;
  /** Where clients in process expect it in addition, as `https://HOST:PORT`; whoever trusts its authority reaches it there. */
  readonly address?: string;
}

/** An API server in this process that stands in for a whole control plane. */
export interface EmbeddedCluster {
  readonly owner: string;
  readonly server: ApiServer;
  /** Path of its API on the shared listener. */
  readonly path: string;
  /** Name in its serving certificate, which distinguishes the clusters on one address before any path is sent. */
  readonly serverName: string;
  readonly caPem: string;
  /** False while it is suspended: it is unreachable, and its content stays. */
  reachable: boolean;
  /** Why it refuses to write, as a full etcd does; undefined if it writes. */
  refusesWrites: string | undefined;
  /** Ends the watches of clients in process, as the end of an API server does. */
  disconnect(): void;
  /** Aborted when connections in process end. */
  readonly connections: AbortSignal;
  readonly options: EmbeddedClusterOptions;
}

/** Stands for this process where nothing listens. */
const NO_LISTENER = { host: "127.0.0.1", port: 6443 };

/** Runs many API servers behind one HTTPS listener, each under its own path and with its own certificate authority. */
export class EmbeddedClusters {
  readonly #options: EmbeddedClustersOptions;
  readonly #clusters = new Map<string, Promise<EmbeddedCluster>>();
  readonly #ready = new Map<string, EmbeddedCluster>();
  readonly #byPin = new Map<string, EmbeddedCluster>();
  readonly #byAddress = new Map<string, Set<EmbeddedCluster>>();
  #listener: Promise<EmbeddedListener> | undefined;
  #stores: Promise<SharedStores | undefined> | undefined;

  constructor(options: EmbeddedClustersOptions) {
    this.#options = options;
  }

  /** Where all of them are served; starts to listen on first use. */
  async endpoint(): Promise<{ host: string; port: number }> {
    const { listen } = this.#options;
    if (listen === undefined) return NO_LISTENER;
    this.#listener ??= this.#listen(listen);
    const { port } = await this.#listener;
    return { host: listen.host, port };
  }

  /** The cluster of an owner (`NAMESPACE/NAME`), with the data that it had before, or new if there is none. */
  ensure(owner: string, options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
    let cluster = this.#clusters.get(owner);
    if (cluster === undefined) {
      cluster = this.#create(owner, options);
      this.#clusters.set(owner, cluster);
      // A failed creation is retried the next time.
      cluster.catch(() => this.#clusters.delete(owner));
    }
    return cluster;
  }

  /** The cluster of an owner if it runs. */
  get(owner: string): EmbeddedCluster | undefined {
    return this.#ready.get(owner);
  }

  /** Takes a cluster and everything in it away, also if it does not run. */
  async remove(owner: string): Promise<void> {
    await this.#stop(owner);
    await (await this.#openStores())?.remove(owner);
  }

  /**
   * A connection in process to the cluster that a configuration names, checked as its listener would check it; undefined if
   * none of them is meant. `caCertHashes` name a cluster where only the shared address is known, as in a kubeadm configuration.
   */
  dial(config: ClientConfig, hint: { caCertHashes?: readonly string[] } = {}): Transport | undefined {
    const { clock } = this.#options;
    const owner = machinesOwnerAt(config.server);
    // Nothing outside of this process has such a name: the cluster may start later.
    if (owner !== undefined) return inProcess(() => this.#ready.get(owner), config, clock);
    const cluster = this.#named(config) ?? this.#pinned(hint.caCertHashes ?? []) ?? this.#at(config);
    return cluster === undefined ? undefined : inProcess(() => cluster, config, clock);
  }

  async close(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    await (await listener)?.close();
    await Promise.all([...this.#clusters.keys()].map((owner) => this.#stop(owner)));
    const stores = this.#stores;
    this.#stores = undefined;
    await (await stores)?.close();
  }

  async #stop(owner: string): Promise<void> {
    const cluster = await this.#clusters.get(owner);
    if (cluster === undefined) return;
    this.#clusters.delete(owner);
    this.#ready.delete(owner);
    const pin = publicKeyPin(cluster.caPem);
    if (this.#byPin.get(pin) === cluster) this.#byPin.delete(pin);
    const { address = "" } = cluster.options;
    const others = this.#byAddress.get(address);
    others?.delete(cluster);
    if (others?.size === 0) this.#byAddress.delete(address);
    cluster.disconnect();
    await cluster.server.close();
  }

  #openStores(): Promise<SharedStores | undefined> {
    if (this.#stores !== undefined) return this.#stores;
    const opened = this.#options.stores?.() ?? Promise.resolve(undefined);
    this.#stores = opened;
    opened.catch(() => {
      this.#stores = undefined;
    });
    return opened;
  }

  async #create(owner: string, options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
    const { clock, random, log, gate } = this.#options;
    const stores = await this.#openStores();
    const store = (await stores?.open(owner, options.identity ?? "")) ?? memoryStore();
    const server = await createApiServer({
      store,
      clock,
      random,
      log,
      ca: options.ca,
      gate,
      // The same over restarts without being kept: tokens of ServiceAccounts stay good.
      auth: { serviceAccounts: { signingKeyPem: options.ca.keyPem } },
    });
    const [namespace = "", name = ""] = owner.split("/");
    let connections = new AbortController();
    const cluster: EmbeddedCluster = {
      owner,
      server,
      path: `/clusters/${namespace}/${name}`,
      serverName: `${name}.${namespace}.clusters.capstan.internal`,
      caPem: options.ca.certPem,
      reachable: true,
      refusesWrites: undefined,
      options,
      get connections() {
        return connections.signal;
      },
      disconnect: () => {
        connections.abort(new Error("read ECONNRESET"));
        connections = new AbortController();
      },
    };
    this.#ready.set(owner, cluster);
    // Certificates are public: a client that presents one of another cluster must not receive that cluster's data.
    const { certPem, keyPem } = options.ca;
    if (!ownsCertificate(certPem, keyPem)) return cluster;
    this.#byPin.set(publicKeyPin(certPem), cluster);
    const { address } = options;
    if (address !== undefined) this.#byAddress.set(address, (this.#byAddress.get(address) ?? new Set()).add(cluster));
    return cluster;
  }

  #listen(where: NonNullable<EmbeddedClustersOptions["listen"]>): Promise<EmbeddedListener> {
    const { clock } = this.#options;
    const find = (owner: string): EmbeddedCluster | undefined => this.#ready.get(owner);
    const started = where
      .port()
      .then((port) => startListener({ host: where.host, port, find, clock, limits: where.limits }));
    started.catch(() => {
      this.#listener = undefined;
    });
    return started;
  }

  #named(config: ClientConfig): EmbeddedCluster | undefined {
    const match = PATH.exec(config.server);
    return match === null ? undefined : this.#ready.get(`${match[1]}/${match[2]}`);
  }

  /** One that is served at an address of its own choice, if the caller trusts its authority. */
  #at({ server, tls }: ClientConfig): EmbeddedCluster | undefined {
    const address = server.replace(/\/+$/, "");
    const trusted = tls?.caPem ?? "";
    for (const cluster of this.#byAddress.get(address) ?? [])
      if (trusted.includes(cluster.caPem.trim())) return cluster;
    return undefined;
  }

  #pinned(pins: readonly string[]): EmbeddedCluster | undefined {
    for (const pin of pins) {
      const cluster = this.#byPin.get(pin);
      if (cluster !== undefined) return cluster;
    }
    return undefined;
  }
}

const PATH = /^https:\/\/[^/]+\/clusters\/([^/]+)\/([^/]+)\/?$/;
