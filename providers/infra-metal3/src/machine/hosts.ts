import { deepCopy, isReason, type KubeObject } from "@capstan/apimachinery";
import { type ClusterKey, resolveReference, type WorkloadClusters } from "@capstan/capi";
import { type Cache, type Client, keyText, type Request } from "@capstan/runtime";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { Metal3Data, Metal3DataClaim } from "../kinds/metal3-data.ts";
import { Metal3Machine } from "../kinds/metal3-machine.ts";
import { hostMatches, type Wanted, whyNotFree, whyUnfit } from "./choose-host.ts";
import { claimed, sameHost } from "./host-spec.ts";
import { NODE_REUSE_LABEL } from "./names.ts";
import { nodeMarks } from "./node.ts";

const BY_CONSUMER = "consumer";
const BY_REUSE = "node-reuse";
const FREE = "free";

interface Waiting {
  request: Request;
  matches(host: BareMetalHost): boolean;
}

/**
 * Finds, claims and updates hosts through their BareMetalHost objects only, whichever controller manages them; the backend of the provider.
 */
export class Hosts {
  #bound: { cache: Cache; client: Client } | undefined;
  /** Machines that found no host, in the order they came. */
  readonly #waiting = new Map<string, Waiting>();
  /** Machines that wait for their Node, by cluster and by what the Node may be known by. */
  readonly #awaitingNode = new Map<string, Map<string, Request>>();
  /** Hosts with a claim under way. */
  readonly #claiming = new Set<string>();
  /** Machines whose last claim failed, and on which host: its answer may have been lost after it was carried out. */
  readonly #doubts = new Map<string, string>();
  #workload: WorkloadClusters | undefined;

  /** Sets the cache and client for BareMetalHosts and adds indexes; call it before the cache starts. */
  bind(cache: Cache): void {
    this.#bound = { cache, client: cache.client.withFieldManager("capstan-metal3") };
    cache.addIndex(BareMetalHost, BY_CONSUMER, (host) => {
      const consumer = consumerOf(host);
      return consumer === undefined ? [] : [keyText(consumer.namespace, `${consumer.kind}/${consumer.name}`)];
    });
    cache.addIndex(BareMetalHost, BY_REUSE, ({ metadata }) => {
      const value = metadata.labels?.[NODE_REUSE_LABEL];
      return value === undefined ? [] : [keyText(metadata.namespace, value)];
    });
    cache.addIndex(BareMetalHost, FREE, (host) =>
      whyNotFree(host) === undefined ? [host.metadata.namespace ?? ""] : [],
    );
  }

  /** Sets the connections through which Nodes are observed. */
  follow(workload: WorkloadClusters): void {
    this.#workload = workload;
  }

  get cache(): Cache {
    return this.#where.cache;
  }

  get client(): Client {
    return this.#where.client;
  }

  get #where(): { cache: Cache; client: Client } {
    if (this.#bound === undefined) throw new Error("hosts are used before bind()");
    return this.#bound;
  }

  list(namespace: string): BareMetalHost[] {
    return this.cache.list(BareMetalHost, { namespace });
  }

  /** The host a machine has claimed. More than one only when a claim that seemed lost came through late. */
  of(machine: KubeObject): BareMetalHost | undefined {
    return this.allOf(machine)[0];
  }

  /** All hosts that name a machine, the one that was first in use first. */
  allOf(machine: KubeObject): BareMetalHost[] {
    const { namespace, name = "" } = machine.metadata;
    const all = this.cache.byIndex(BareMetalHost, BY_CONSUMER, keyText(namespace, `${machine.kind}/${name}`));
    const rank = ({ spec, metadata }: BareMetalHost): string =>
      `${spec.userData === undefined ? 1 : 0}${metadata.name}`;
    return all.length <= 1 ? all : [...all].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  }

  /** Hosts that a Cluster keeps for machines to come. */
  keptBy(cluster: KubeObject): BareMetalHost[] {
    const { namespace, name = "" } = cluster.metadata;
    return this.cache.byIndex(BareMetalHost, BY_CONSUMER, keyText(namespace, `${cluster.kind}/${name}`));
  }

  /** Hosts kept for machines of one origin that this machine can have, now or later. */
  keptFor(namespace: string, origin: string, { selector }: Wanted): BareMetalHost[] {
    const matches = hostMatches({ selector });
    return this.cache
      .byIndex(BareMetalHost, BY_REUSE, keyText(namespace, origin))
      .filter((host) => !this.isBeingClaimed(host) && whyUnfit(host) === undefined && matches(host));
  }

  /** A free host that a machine can have. */
  free(namespace: string, wanted: Wanted): BareMetalHost | undefined {
    const matches = hostMatches(wanted);
    return this.cache
      .byIndex(BareMetalHost, FREE, namespace)
      .find((host) => !this.isBeingClaimed(host) && matches(host));
  }

  /** All free hosts that a machine can have. */
  allFree(namespace: string, wanted: Wanted): BareMetalHost[] {
    const matches = hostMatches(wanted);
    return this.cache
      .byIndex(BareMetalHost, FREE, namespace)
      .filter((host) => !this.isBeingClaimed(host) && matches(host));
  }

  waits(machine: KubeObject, wanted: Wanted): void {
    this.#waiting.set(keyOf(machine), { request: requestOf(machine), matches: hostMatches(wanted) });
  }

  waitsNoMore(machine: KubeObject): void {
    this.#waiting.delete(keyOf(machine));
  }

  /** A machine looks again when a Node of its cluster appears that is known by one of these. */
  awaitsNode(machine: KubeObject, cluster: ClusterKey, marks: readonly string[]): void {
    const key = keyText(cluster.namespace, cluster.name);
    const all = this.#awaitingNode.get(key) ?? new Map<string, Request>();
    for (const mark of marks) all.set(mark, requestOf(machine));
    this.#awaitingNode.set(key, all);
  }

  /** Whether some machine is claiming this host right now: a second try would only end in a conflict. */
  isBeingClaimed(host: BareMetalHost): boolean {
    return this.#claiming.has(keyOf(host));
  }

  /** Claims a host and returns it; undefined if another machine was faster. The update is guarded by resourceVersion. */
  async claim(
    host: BareMetalHost,
    machine: Metal3Machine,
    change: (claimed: BareMetalHost) => BareMetalHost,
    cluster: string,
    signal: AbortSignal,
  ): Promise<BareMetalHost | undefined> {
    this.waitsNoMore(machine);
    const { uid = "" } = machine.metadata;
    this.#doubts.set(uid, host.metadata.name ?? "");
    this.#claiming.add(keyOf(host));
    try {
      const taken = await this.#update(change(claimed(host, machine, cluster)), signal);
      if (taken !== undefined) this.#doubts.delete(uid);
      return taken;
    } finally {
      this.#claiming.delete(keyOf(host));
    }
  }

  /** The host that a claim got although it seemed to have failed; the cache shows it soon. */
  async doubtful(machine: KubeObject, signal: AbortSignal): Promise<string | undefined> {
    const { uid = "", namespace } = machine.metadata;
    const name = this.#doubts.get(uid);
    if (name === undefined) return undefined;
    const live = await this.client.get(BareMetalHost, { namespace, name }, signal);
    const consumer = live === undefined ? undefined : consumerOf(live);
    if (consumer?.kind === machine.kind && consumer.name === machine.metadata.name) return name;
    this.#doubts.delete(uid);
    return undefined;
  }

  /** Writes a host as changed; nothing when it is so already, false when it changed meanwhile. */
  async write(host: BareMetalHost, changed: BareMetalHost, signal: AbortSignal): Promise<boolean> {
    return sameHost(host, changed) || (await this.#update(changed, signal)) !== undefined;
  }

  async #update(changed: BareMetalHost, signal: AbortSignal): Promise<BareMetalHost | undefined> {
    const { status: _status, ...rest } = deepCopy(changed);
    try {
      return await this.client.update(rest as BareMetalHost, {}, signal);
    } catch (error) {
      if (isReason(error, "Conflict", "NotFound")) return undefined;
      throw error;
    }
  }

  /** Calls back for machines whose host, data or Node changed, and for one that waits when a host becomes free. */
  subscribe(changed: (machine: Request) => void): () => void {
    const consumer = (host: BareMetalHost): void => {
      const { kind, namespace = "", name = "" } = consumerOf(host) ?? {};
      if (kind === Metal3Machine.kind) changed({ namespace, name });
    };
    const appeared = (host: BareMetalHost): void => {
      consumer(host);
      if (whyNotFree(host) === undefined) this.#offer(host, changed);
    };
    const stops = [
      this.cache.informer(BareMetalHost).addHandler({
        add: appeared,
        update: (host, old) => {
          if (host.spec.consumerRef?.name !== old.spec.consumerRef?.name) consumer(old);
          if (whyNotFree(old) === undefined) consumer(host);
          else appeared(host);
        },
        delete: consumer,
      }),
      this.cache.informer(Metal3DataClaim).addHandler({
        update: (claim) => changed(requestOf(claim)),
        delete: (claim) => changed(requestOf(claim)),
      }),
      this.cache.informer(Metal3Data).addHandler({
        update: ({ metadata, spec }) => changed({ namespace: metadata.namespace ?? "", name: spec.claim.name ?? "" }),
      }),
      this.#workload?.subscribe((cluster, node) => this.#nodeChanged(cluster, node, changed)) ?? (() => undefined),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** One host helps one machine. */
  #offer(host: BareMetalHost, changed: (machine: Request) => void): void {
    for (const [key, { request, matches }] of this.#waiting) {
      if (request.namespace !== host.metadata.namespace || !matches(host)) continue;
      this.#waiting.delete(key);
      changed(request);
      return;
    }
  }

  /** A Node wakes the machine that waits for it; a connection that comes or goes wakes all of its cluster. */
  #nodeChanged(cluster: ClusterKey, nodeName: string | undefined, changed: (machine: Request) => void): void {
    const key = keyText(cluster.namespace, cluster.name);
    const all = this.#awaitingNode.get(key);
    if (all === undefined) return;
    if (nodeName === undefined) {
      this.#awaitingNode.delete(key);
      for (const request of all.values()) changed(request);
      return;
    }
    const connection = this.#workload?.get(cluster);
    const node = connection?.state === "connected" ? connection.nodes.get(nodeName) : undefined;
    for (const mark of node === undefined ? [] : nodeMarks(node)) {
      const request = all.get(mark);
      if (request !== undefined) changed(request);
      all.delete(mark);
    }
  }
}

/** Who has claimed a host. A host is claimed only from its own namespace: whoever writes one must not speak for the machines of others. */
function consumerOf(host: BareMetalHost): { kind: string; namespace: string; name: string } | undefined {
  const { consumerRef } = host.spec;
  if (consumerRef?.kind === undefined || consumerRef.name === undefined) return undefined;
  const target = resolveReference(host, consumerRef, "spec.consumerRef");
  return "problem" in target ? undefined : { kind: consumerRef.kind, ...target };
}

function requestOf(object: KubeObject): Request {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}

function keyOf(object: KubeObject): string {
  return keyText(object.metadata.namespace, object.metadata.name ?? "");
}
