import type { KubeObject } from "@capstan/apimachinery";
import { byKindAndName, type ClusterKey, HostClaims, type WorkloadClusters } from "@capstan/capi";
import { type Cache, type Client, keyText, type Request } from "@capstan/runtime";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { Metal3Data, Metal3DataClaim } from "../kinds/metal3-data.ts";
import { Metal3Machine } from "../kinds/metal3-machine.ts";
import { hostMatches, isNews, type Wanted, whyNotFree, whyUnfit } from "./choose-host.ts";
import { CLAIM_FIELD, sameHost } from "./host-spec.ts";
import { NODE_REUSE_LABEL } from "./names.ts";
import { nodeMarks } from "./node.ts";

const BY_REUSE = "node-reuse";

/**
 * Finds, claims and updates hosts through their BareMetalHost objects only, whichever controller manages them; the backend of the provider.
 */
export class Hosts {
  readonly claims = new HostClaims<BareMetalHost, Metal3Machine>({
    host: BareMetalHost,
    machine: Metal3Machine,
    field: CLAIM_FIELD,
    identity: byKindAndName,
    whyTaken: whyNotFree,
    isNews,
    isUsed: ({ spec }) => spec.userData !== undefined,
  });
  /** Machines that wait for their Node, by cluster and by what the Node may be known by. */
  readonly #awaitingNode = new Map<string, Map<string, Request>>();
  #workload: WorkloadClusters | undefined;

  /** Sets the cache and client for BareMetalHosts and adds indexes; call it before the cache starts. */
  bind(cache: Cache): void {
    this.claims.bind(cache, cache.client.withFieldManager("capstan-metal3"));
    cache.addIndex(BareMetalHost, BY_REUSE, ({ metadata }) => {
      const value = metadata.labels?.[NODE_REUSE_LABEL];
      return value === undefined ? [] : [keyText(metadata.namespace, value)];
    });
  }

  /** Sets the connections through which Nodes are observed. */
  follow(workload: WorkloadClusters): void {
    this.#workload = workload;
  }

  get cache(): Cache {
    return this.claims.cache;
  }

  get client(): Client {
    return this.claims.client;
  }

  /** The host a machine has claimed. */
  of(machine: Metal3Machine): BareMetalHost | undefined {
    return this.claims.allOf(machine)[0];
  }

  /** Hosts kept for machines of one origin that this machine can have, now or later. */
  keptFor(namespace: string, origin: string, { selector }: Wanted): BareMetalHost[] {
    const matches = hostMatches({ selector });
    return this.cache
      .byIndex(BareMetalHost, BY_REUSE, keyText(namespace, origin))
      .filter((host) => !this.claims.isBeingClaimed(host) && whyUnfit(host) === undefined && matches(host));
  }

  /** A free host that a machine can have. */
  free(namespace: string, wanted: Wanted): BareMetalHost | undefined {
    const matches = hostMatches(wanted);
    return this.claims.free(namespace).find((host) => !this.claims.isBeingClaimed(host) && matches(host));
  }

  /** A machine looks again when a Node of its cluster appears that is known by one of these. */
  awaitsNode(machine: KubeObject, cluster: ClusterKey, marks: readonly string[]): void {
    const key = keyText(cluster.namespace, cluster.name);
    const all = this.#awaitingNode.get(key) ?? new Map<string, Request>();
    for (const mark of marks) all.set(mark, requestOf(machine));
    this.#awaitingNode.set(key, all);
  }

  /** Writes a host as changed; nothing when it is so already, false when it changed meanwhile. */
  async write(host: BareMetalHost, changed: BareMetalHost, signal: AbortSignal): Promise<boolean> {
    return sameHost(host, changed) || (await this.claims.update(changed, signal)) !== undefined;
  }

  /** Calls back for machines whose host, data or Node changed, and for one that waits when a host becomes free. */
  subscribe(changed: (machine: Request) => void): () => void {
    const stops = [
      this.claims.subscribe(changed),
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

function requestOf(object: KubeObject): Request {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}
