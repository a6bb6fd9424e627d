import { type Clock, controllerOf, isReason, type Random, type Transport } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { CLUSTER_NAME_LABEL, Machine } from "@capstan/capi";
import type { Cache, Client, ClientConfig, Logger } from "@capstan/runtime";
import { findHost, type HostCluster, HostClusters, HostNode } from "@capstan/workloads";
import { KubernetesCluster } from "./kinds/kubernetes-cluster.ts";
import { KubernetesMachine } from "./kinds/kubernetes-machine.ts";
import type { CompileScript } from "./machine/bootstrap.ts";
import { type Key, objectOf } from "./names.ts";

/** What the backend needs. */
export interface BackendOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly gate: DialGate;
  /** Whether the management cluster runs pods. */
  readonly runsPods: boolean;
  readonly compile: CompileScript;
  /** Another way to reach an outer cluster, in tests. */
  readonly dial?: (config: ClientConfig) => Transport | undefined;
}

/** Where the objects of an owner are. */
export interface Place {
  readonly host: HostCluster;
  /** Secret with the outer cluster's kubeconfig; undefined for the management cluster, which tenants share. */
  readonly secretName: string | undefined;
  /** Ends calls when the manager stops. */
  readonly signal: AbortSignal;
}

/** What a user of the outer cluster may not read is only unknown. */
export function withoutPermission<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (isReason(error, "Forbidden")) return instead;
    throw error;
  };
}

const BY_CLUSTER = "kubernetes-by-cluster";
const BY_OWNER = "kubernetes-by-owner";
/** How long the nodes of an outer cluster are taken from memory. */
const NODES_MS = 10_000;

/** The outer clusters, and what the management cluster says of them. */
export class Backend {
  readonly options: BackendOptions;
  #cache: Cache | undefined;
  #hosts: HostClusters | undefined;
  readonly #nodes = new WeakMap<HostCluster, { readonly at: number; readonly nodes: Promise<readonly HostNode[]> }>();
  readonly #listeners = new Set<(owner: string) => void>();

  constructor(options: BackendOptions) {
    this.options = options;
  }

  /** Adds the indexes; called once before the cache starts. */
  bind(cache: Cache): void {
    this.#cache = cache;
    const { clock, random, log, gate, dial, runsPods } = this.options;
    this.#hosts = new HostClusters({
      management: runsPods ? cache.client : undefined,
      fieldManager: cache.client.fieldManager,
      clock,
      random,
      log,
      gate,
      ...(dial === undefined ? {} : { dial }),
    });
    this.#hosts.subscribe((owner) => {
      for (const listener of this.#listeners) listener(owner);
    });
    const clusterOf = ({ metadata }: KubernetesMachine | KubernetesCluster): string[] => {
      const name = metadata.labels?.[CLUSTER_NAME_LABEL];
      return name === undefined ? [] : [`${metadata.namespace}/${name}`];
    };
    cache.addIndex<KubernetesCluster>(KubernetesCluster, BY_CLUSTER, clusterOf);
    cache.addIndex<KubernetesMachine>(KubernetesMachine, BY_CLUSTER, clusterOf);
    cache.addIndex<Machine>(Machine, BY_OWNER, (machine) => {
      const owner = controllerOf(machine)?.uid;
      return owner === undefined ? [] : [owner];
    });
  }

  /** Returns the outer cluster of an owner. Throws HostProblem if it cannot be used. */
  async place(owner: string, secretName: string | undefined, signal: AbortSignal): Promise<Place> {
    const host = await findHost(this.#bound(this.#hosts), this.#bound(this.#cache).client, {
      owner,
      secretName,
      otherwise: "",
      signal,
    });
    return { host, secretName, signal };
  }

  /** Called when an owner has nothing in an outer cluster any more. */
  release(owner: string): void {
    this.#hosts?.release(owner);
  }

  /** Returns the KubernetesCluster of a machine, which its label names. */
  clusterOf(machine: KubernetesMachine): KubernetesCluster | undefined {
    const name = machine.metadata.labels?.[CLUSTER_NAME_LABEL];
    const key = `${machine.metadata.namespace}/${name}`;
    return name === undefined
      ? undefined
      : this.#cache?.byIndex<KubernetesCluster>(KubernetesCluster, BY_CLUSTER, key)[0];
  }

  /** Returns the machines of a cluster. */
  machinesOf({ namespace, name }: Key): KubernetesMachine[] {
    return this.#bound(this.#cache).byIndex<KubernetesMachine>(KubernetesMachine, BY_CLUSTER, `${namespace}/${name}`);
  }

  /** Returns the Machines that an object of this UID controls. */
  machinesOwnedBy(uid: string): Machine[] {
    return this.#bound(this.#cache).byIndex<Machine>(Machine, BY_OWNER, uid);
  }

  /** The client of the management cluster. */
  get client(): Client {
    return this.#bound(this.#cache).client;
  }

  /** Returns the nodes of an outer cluster, as they were at most ten seconds ago. */
  nodes({ host, signal }: Place): Promise<readonly HostNode[]> {
    const now = this.options.clock.now();
    const known = this.#nodes.get(host);
    if (known !== undefined && now - known.at < NODES_MS) return known.nodes;
    const nodes = host.client
      .list(HostNode, {}, signal)
      .then(({ items }) => items, withoutPermission<readonly HostNode[]>([]));
    this.#nodes.set(host, { at: now, nodes });
    nodes.catch(() => this.#nodes.delete(host));
    return nodes;
  }

  /** Calls back with machines whose objects in the outer cluster changed. */
  watchMachines(changed: (machine: Key) => void): () => void {
    return this.#watch((owner) => {
      const machine = objectOf("kubernetesmachine", owner);
      if (machine !== undefined) changed(machine);
    });
  }

  /** Calls back with clusters whose Service, or the pods behind it, changed. */
  watchClusters(changed: (cluster: Key) => void): () => void {
    return this.#watch((owner) => {
      const own = objectOf("kubernetescluster", owner);
      const key = objectOf("kubernetesmachine", owner);
      const machine = key === undefined ? undefined : this.#cache?.get(KubernetesMachine, key);
      const { namespace, name } = (machine === undefined ? undefined : this.clusterOf(machine))?.metadata ?? {};
      if (own !== undefined) changed(own);
      if (namespace !== undefined && name !== undefined) changed({ namespace, name });
    });
  }

  async close(): Promise<void> {
    await this.#hosts?.stop();
  }

  #watch(listener: (owner: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #bound<T>(value: T | undefined): T {
    if (value === undefined) throw new Error("the backend has no cache yet");
    return value;
  }
}
