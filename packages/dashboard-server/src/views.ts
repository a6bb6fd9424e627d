import { deepEqual, type KubeObject, randomSuffix } from "@capstan/apimachinery";
import {
  assess,
  Cluster,
  type ContractReference,
  claimOf,
  clusterTree,
  isHostKind,
  MachineDeployment,
  MachinePool,
  objectId,
  objectNode,
  type ProviderDescription,
  WorkerPool,
} from "@capstan/capi";
import { type Kind, type KindRef, keyText } from "@capstan/runtime";
import { clusterMembers } from "./cluster-members.ts";
import { ClusterView } from "./cluster-view.ts";
import { Deadlines } from "./deadlines.ts";
import { EventFeeds } from "./event-feeds.ts";
import { fleetRow } from "./fleet-row.ts";
import { hostRow } from "./host-row.ts";
import { type ItemAccess, Sequence, Topic } from "./topic.ts";
import { CLAIM_INDEX, CLUSTER_INDEX, clusterKeyOf, type ViewsOptions } from "./view-kinds.ts";

/** Changes within this time are one update, because a starting cluster changes many objects at once. */
const GATHER_MS = 40;
/** How long a cluster's topic without readers is kept, so that a returning reader resumes. */
const KEEP_MS = 60_000;
/** At most this many clusters are kept in detail at a time. */
const MAX_CLUSTERS = 200;

/**
 * Keeps summaries of the manager's cache as topics: `fleet`, `hosts` and `cluster:NAMESPACE/NAME`. They are built on first use and updated
 * per change, so that idle clusters cost nothing. States that depend on time (a silent host, a stuck rollout) are re-evaluated when due.
 */
export class Views {
  readonly sequence: Sequence;
  readonly #options: ViewsOptions;
  readonly #fleet: Topic;
  readonly #hosts: Topic;
  readonly #clusters = new Map<string, ClusterView>();
  readonly #dirty = new Set<string>();
  readonly #events: EventFeeds;
  /** Clusters by their key, hosts by theirs, which has one more slash. */
  readonly #deadlines: Deadlines;
  #stops: (() => void)[] | undefined;
  #flush: (() => void) | undefined;
  #sweep: (() => void) | undefined;

  constructor(options: ViewsOptions) {
    this.#options = options;
    this.sequence = new Sequence(randomSuffix(options.random, 10));
    this.#fleet = new Topic("fleet", this.sequence);
    this.#hosts = new Topic("hosts", this.sequence);
    const { cache, clock, random, log } = options;
    this.#deadlines = new Deadlines(clock, (key) => this.#timePassed(key));
    this.#events = new EventFeeds({ client: cache.client, clock, random, log }, (namespace, id) =>
      this.#touchMembers(namespace, id),
    );
  }

  /** The topic of this name, or undefined when there is none of that name. */
  async topic(name: string): Promise<Topic | undefined> {
    await this.#start();
    if (name === "fleet") return this.#fleet;
    if (name === "hosts") return this.#hosts;
    const match = /^cluster:([^/]+)\/([^/]+)$/.exec(name);
    if (match === null) return undefined;
    const [, namespace = "", cluster = ""] = match;
    const key = keyText(namespace, cluster);
    let view = this.#clusters.get(key);
    if (view === undefined) {
      if (this.#clusters.size >= MAX_CLUSTERS) this.#dropUnread();
      view = new ClusterView(namespace, cluster, this.#options, this.sequence, this.#events);
      this.#clusters.set(key, view);
      view.refresh();
      this.#scheduleSweep();
    }
    return view.topic;
  }

  /** Stops all watches; topics keep their content. */
  async stop(): Promise<void> {
    this.#flush?.();
    this.#sweep?.();
    this.#deadlines.stop();
    for (const stop of this.#stops ?? []) stop();
    this.#stops = [];
    await this.#events.stop();
  }

  async #start(): Promise<void> {
    const { cache, kinds, providers } = this.#options;
    if (this.#stops === undefined) {
      this.#stops = [];
      for (const kind of kinds) {
        cache.addIndex(kind as Kind, CLUSTER_INDEX, (object) => clusterKeyOf(object));
        const host = isHostKind(kind.kind);
        if (host) cache.addIndex(kind as Kind, CLAIM_INDEX, (object) => claimKeyOf(object, providers));
        const touch = (object: KubeObject): void => this.#touch(clusterKeyOf(object));
        this.#stops.push(
          cache.informer(kind as Kind).addHandler({
            add: host ? (object) => this.#hostChanged(object, undefined, kind) : touch,
            update: (object, old) => {
              if (clusterKeyOf(old) !== clusterKeyOf(object)) this.#touch(clusterKeyOf(old));
              if (host) this.#hostChanged(object, old, kind);
              else touch(object);
            },
            delete: host ? (object) => this.#hostGone(object, kind) : touch,
          }),
        );
      }
    }
    // A kind that cannot be listed (not installed, not allowed) must not block the others.
    await Promise.all(
      kinds.map((kind) =>
        cache
          .informer(kind as Kind)
          .syncedOrError()
          .catch(() => false),
      ),
    );
    this.#flushNow();
  }

  #touch(key: string | undefined): void {
    if (key === undefined) return;
    this.#dirty.add(key);
    this.#flush ??= this.#options.clock.after(GATHER_MS, () => this.#flushNow());
  }

  #touchMembers(namespace: string, id: string): void {
    for (const [key, view] of this.#clusters) if (view.namespace === namespace && view.has(id)) this.#touch(key);
  }

  #flushNow(): void {
    this.#flush?.();
    this.#flush = undefined;
    if (this.#dirty.size === 0) return;
    let changed = false;
    for (const key of this.#dirty) {
      changed = this.#refreshRow(key) || changed;
      this.#clusters.get(key)?.refresh();
    }
    this.#dirty.clear();
    if (changed) this.#fleet.announce();
  }

  #refreshRow(key: string): boolean {
    const { cache, providers } = this.#options;
    const slash = key.indexOf("/");
    const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)];
    const cluster = cache.synced(Cluster) ? cache.get(Cluster, { namespace, name }) : undefined;
    if (cluster === undefined) {
      this.#deadlines.set(key, undefined);
      return this.#fleet.remove(key);
    }
    const access: ItemAccess = { group: Cluster.group, resource: Cluster.plural, namespace };
    const nowMs = this.#options.clock.now();
    const members = clusterMembers(cache, this.#options.kinds, key);
    const { root } = clusterTree(
      [...members.values()].map(({ object }) => object),
      { nowMs, providers },
    );
    const { state, changesAtMs } = assess(root ?? objectNode(cluster, { nowMs, providers }), {
      nowMs,
      namespace,
      providers,
    });
    this.#deadlines.set(key, changesAtMs);
    const row = fleetRow({
      cluster,
      state,
      version: this.#versionOf(cluster),
      templates: this.#templatesOf(key),
      providers,
    });
    return this.#fleet.set(key, row, access);
  }

  /** Re-evaluates the state of a cluster or host, which may have changed by the passing of time. */
  #timePassed(key: string): void {
    const [kindName = "", namespace = "", name] = key.split("/");
    if (name === undefined) {
      this.#touch(key);
      return;
    }
    const kind = this.#options.kinds.find((candidate) => candidate.kind === kindName);
    const host = kind === undefined ? undefined : this.#options.cache.get(kind as Kind, { namespace, name });
    if (kind !== undefined && host !== undefined) this.#showHost(host, kind);
  }

  #versionOf(cluster: Cluster): string | undefined {
    const reference = cluster.spec?.controlPlaneRef;
    if (reference === undefined) return undefined;
    const kind = this.#options.kinds.find(
      (candidate) => candidate.kind === reference.kind && candidate.group === reference.apiGroup,
    );
    if (kind === undefined || !this.#options.cache.synced(kind)) return undefined;
    const plane = this.#options.cache.get(kind as Kind, {
      namespace: cluster.metadata.namespace ?? "",
      name: reference.name,
    }) as { spec?: { version?: unknown } } | undefined;
    return typeof plane?.spec?.version === "string" ? plane.spec.version : undefined;
  }

  #templatesOf(key: string): ContractReference[] {
    const { cache } = this.#options;
    const of = <T extends KubeObject>(kind: Kind<T>): T[] =>
      cache.synced(kind) ? cache.byIndex(kind, CLUSTER_INDEX, key) : [];
    return [
      ...of(MachineDeployment).map((deployment) => deployment.spec.template.spec.infrastructureRef),
      ...of(MachinePool).map((pool) => pool.spec.template.spec.infrastructureRef),
      ...of(WorkerPool).flatMap((pool) => pool.spec.members.map((member) => member.infrastructureRef)),
    ];
  }

  #hostChanged(object: KubeObject, old: KubeObject | undefined, kind: KindRef): void {
    const { clock, providers } = this.#options;
    this.#showHost(object, kind);
    if (old !== undefined && claimOf(old, providers) !== claimOf(object, providers)) this.#touchClaimant(old);
    // A heartbeat alone changes nothing of its cluster.
    const context = { nowMs: clock.now(), providers };
    const shown = (host: KubeObject): unknown => ({
      ...objectNode(host, context),
      changesAtMs: 0,
      claim: claimOf(host, providers),
    });
    if (old === undefined || !deepEqual(shown(old), shown(object))) this.#touchClaimant(object);
    this.#touchMembers(object.metadata.namespace ?? "", objectId(kind.kind, object.metadata.name ?? ""));
  }

  #showHost(object: KubeObject, kind: KindRef): void {
    const { namespace = "" } = object.metadata;
    const { clock, providers } = this.#options;
    const nowMs = clock.now();
    const access: ItemAccess = { group: kind.group, resource: kind.plural, namespace };
    const key = hostKey(object, kind);
    this.#deadlines.set(
      key,
      assess(objectNode(object, { nowMs, providers }), { nowMs, namespace, providers }).changesAtMs,
    );
    if (this.#hosts.set(key, hostRow(object, kind, { nowMs, providers }), access)) this.#hosts.announce();
  }

  #hostGone(object: KubeObject, kind: KindRef): void {
    this.#deadlines.set(hostKey(object, kind), undefined);
    if (this.#hosts.remove(hostKey(object, kind))) this.#hosts.announce();
    this.#touchClaimant(object);
    this.#touchMembers(object.metadata.namespace ?? "", objectId(kind.kind, object.metadata.name ?? ""));
  }

  /** Marks the cluster whose machine uses a host as changed. */
  #touchClaimant(host: KubeObject): void {
    const { cache, kinds, providers } = this.#options;
    const [kindName = "", name = ""] = claimOf(host, providers)?.split("/") ?? [];
    const kind = kinds.find((candidate) => candidate.kind === kindName);
    if (kind === undefined || !cache.synced(kind)) return;
    const machine = cache.get(kind as Kind, { namespace: host.metadata.namespace ?? "", name });
    if (machine !== undefined) this.#touch(clusterKeyOf(machine));
  }

  #scheduleSweep(): void {
    this.#sweep ??= this.#options.clock.after(KEEP_MS, () => {
      this.#sweep = undefined;
      const now = this.#options.clock.monotonic();
      for (const [key, view] of this.#clusters)
        if (view.unreadFor(now) >= KEEP_MS) {
          view.close();
          this.#clusters.delete(key);
        }
      if (this.#clusters.size > 0) this.#scheduleSweep();
    });
  }

  #dropUnread(): void {
    for (const [key, view] of this.#clusters)
      if (!view.topic.read) {
        view.close();
        this.#clusters.delete(key);
        return;
      }
  }
}

function hostKey(object: KubeObject, kind: KindRef): string {
  return `${kind.kind}/${object.metadata.namespace ?? ""}/${object.metadata.name ?? ""}`;
}

function claimKeyOf(object: KubeObject, providers: readonly ProviderDescription[]): string | undefined {
  const id = claimOf(object, providers);
  return id === undefined ? undefined : `${object.metadata.namespace ?? ""}/${id}`;
}
