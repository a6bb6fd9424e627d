import { deepCopy, isReason, type KubeObject } from "@capstan/apimachinery";
import {
  type Cache,
  type Client,
  type Kind,
  keyOf,
  keyText,
  type ObjectKey,
  parseKey,
  type Request,
} from "@capstan/runtime";
import { type ClaimIdentity, claimedBy, claimOn, referenceTo } from "./reference.ts";
import { WaitingList } from "./waiting-list.ts";

const BY_CLAIM = "claim";
const FREE = "free";

/** How machines of one kind claim hosts of another. */
export interface ClaimRules<H extends KubeObject, M extends KubeObject> {
  readonly host: Kind<H>;
  readonly machine: Kind<M>;
  /** Name of the field in a host's spec that holds the claim, such as `machineRef`. */
  readonly field: string;
  readonly identity: ClaimIdentity;
  /** Returns why a host cannot be claimed according to its object; undefined if it can. */
  whyTaken(host: H): string | undefined;
  /** Reports whether a change may have made a host claimable for a machine that waits; `old` is absent for a new host. */
  isNews(host: H, old: H | undefined): boolean;
  /** Reports whether, of several hosts that it has claimed, a machine uses this one. */
  isUsed(host: H, machine: M): boolean;
  /** Finds the hosts of a machine whose identity changed, for example with a move; asked only if no claim names the machine. */
  findMoved?(machine: M): readonly H[];
}

/**
 * Claims hosts for machines. A claim is one update of the host, guarded by its resourceVersion, so that of several claimants one succeeds.
 * What this object remembers only saves requests and decides who is called first: after a restart, the hosts say who has claimed them.
 */
export class HostClaims<H extends KubeObject, M extends KubeObject> {
  readonly rules: ClaimRules<H, M>;
  readonly #waiting = new WaitingList<H>();
  /** Hosts with a claim in flight, which the cache does not show yet. */
  readonly #inFlight = new Set<string>();
  /** Hosts whose claim failed, by the UID of the machine: the answer may have been lost after the claim was carried out. */
  readonly #doubts = new Map<string, ObjectKey>();
  readonly #listeners = new Set<(machine: Request) => void>();
  #bound: { cache: Cache; client: Client } | undefined;

  constructor(rules: ClaimRules<H, M>) {
    this.rules = rules;
  }

  /** Sets the cache and the client that writes hosts, and adds indexes; call it before the cache starts. */
  bind(cache: Cache, client: Client): void {
    this.#bound = { cache, client };
    const { host: kind, field, identity, whyTaken } = this.rules;
    cache.addIndex(kind, BY_CLAIM, (host) => {
      const claim = claimOn(host, field);
      const known = claim === undefined ? undefined : identity(claim);
      return known === undefined ? [] : [keyText(host.metadata.namespace, known)];
    });
    cache.addIndex(kind, FREE, (host) => (whyTaken(host) === undefined ? [host.metadata.namespace ?? ""] : []));
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

  /** The machine that has claimed a host, whichever kind it is of. */
  claimant(host: H): Request | undefined {
    const claim = claimOn(host, this.rules.field);
    return claim === undefined ? undefined : { namespace: claim.namespace, name: claim.name };
  }

  /** The hosts whose claim names an object. */
  heldBy(object: KubeObject): H[] {
    const known = this.rules.identity(referenceTo(object));
    if (known === undefined) return [];
    return this.cache.byIndex(this.rules.host, BY_CLAIM, keyText(object.metadata.namespace, known));
  }

  /** The hosts that a machine has claimed, the one that it uses first: more than one only if a lost claim was carried out late. */
  allOf(machine: M): H[] {
    const own = this.heldBy(machine);
    const hosts = own.length > 0 ? own : [...(this.rules.findMoved?.(machine) ?? [])];
    const rank = (host: H): string => `${this.rules.isUsed(host, machine) ? 0 : 1}${host.metadata.name}`;
    return hosts.length <= 1 ? hosts : [...hosts].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  }

  /** All hosts of a namespace. */
  list(namespace: string): H[] {
    return this.cache.list(this.rules.host, { namespace });
  }

  /** The hosts of a namespace that are free according to their objects. */
  free(namespace: string): H[] {
    return this.cache.byIndex(this.rules.host, FREE, namespace);
  }

  /** Reports whether a claim of a host is in flight: a second one would only end in a conflict. */
  isBeingClaimed(host: H): boolean {
    return this.#inFlight.has(keyOf(host));
  }

  /** Claims a host and returns it; undefined if another writer was faster. `change` adds what the provider writes with the claim. */
  async claim(
    host: H,
    machine: M,
    cluster: string | undefined,
    change: (claimed: H) => H,
    signal: AbortSignal,
  ): Promise<H | undefined> {
    const { uid = "" } = machine.metadata;
    const key = keyOf(host);
    this.#doubts.set(uid, { namespace: host.metadata.namespace, name: host.metadata.name ?? "" });
    this.#inFlight.add(key);
    let taken: H | undefined;
    try {
      taken = await this.update(change(claimedBy(host, this.rules.field, machine, cluster)), signal);
    } finally {
      this.#inFlight.delete(key);
      if (taken === undefined) this.#holdOffer(machine, key);
    }
    if (taken === undefined) return undefined;
    this.#doubts.delete(uid);
    const offered = this.#waiting.leave(keyOf(machine));
    if (offered !== key) this.#offerAgain(offered);
    return taken;
  }

  /** The name of the host that a machine has got by a claim that seemed to have failed; the cache shows it soon. */
  async doubtful(machine: M, signal: AbortSignal): Promise<string | undefined> {
    const { uid = "" } = machine.metadata;
    const key = this.#doubts.get(uid);
    if (key === undefined) return undefined;
    const live = await this.client.get(this.rules.host, key, signal);
    const claim = live === undefined ? undefined : claimOn(live, this.rules.field);
    const { identity } = this.rules;
    if (claim !== undefined && identity(claim) === identity(referenceTo(machine))) return key.name;
    this.#doubts.delete(uid);
    return undefined;
  }

  /** Writes a host guarded by its resourceVersion and returns it; undefined if it has changed or was deleted. */
  async update(host: H, signal: AbortSignal): Promise<H | undefined> {
    const { status: _, ...rest } = deepCopy(host) as H & { status?: unknown };
    try {
      return await this.client.update(rest as unknown as H, {}, signal);
    } catch (error) {
      if (isReason(error, "Conflict", "NotFound")) return undefined;
      throw error;
    }
  }

  /** A machine found no host: it is called when one becomes free that matches, in the order in which machines began to wait. */
  waits(machine: M, matches: (host: H) => boolean): void {
    const key = keyOf(machine);
    // It was deleted while its reconciler waited for an answer: it would never answer an offer.
    if (!this.#exists(machine)) return;
    const refused = this.#waiting.wait(key, parseKey(key), matches);
    const host = this.#host(refused);
    // A machine that could use the host and did not take it found it unusable, as all others would.
    if (host !== undefined && !this.#waiting.wants(key, host)) this.#offerAgain(refused);
  }

  /** A machine does not wait any more: it has a host, is being deleted, or is paused. */
  stopWaiting(machine: M): void {
    this.#offerAgain(this.#waiting.leave(keyOf(machine)));
  }

  /** Calls back for the claimant of a host that changed, and for one waiting machine when a host becomes free. */
  subscribe(changed: (machine: Request) => void): () => void {
    const claimant = (host: H): void => {
      const machine = this.claimant(host);
      if (machine !== undefined && this.#isMachine(host)) changed(machine);
    };
    const { host: kind, machine, isNews } = this.rules;
    this.#listeners.add(changed);
    const stops = [
      this.cache.informer(kind).addHandler({
        add: (host) => {
          claimant(host);
          if (isNews(host, undefined)) this.offer(host);
        },
        update: (host, old) => {
          claimant(host);
          if (this.#identity(old) !== this.#identity(host)) claimant(old);
          if (isNews(host, old)) this.offer(host);
        },
        delete: claimant,
      }),
      // One whose finalizer was removed by hand never said that it waits no more.
      this.cache.informer(machine).addHandler({ delete: (object) => this.#forget(object) }),
    ];
    return () => {
      this.#listeners.delete(changed);
      for (const stop of stops) stop();
    };
  }

  /** Offers a host to the machine that has waited longest for one like it. */
  offer(host: H): void {
    const machine = this.#waiting.offer(keyOf(host), host, host.metadata.namespace ?? "");
    if (machine !== undefined) for (const changed of this.#listeners) changed(machine);
  }

  /** A machine whose claim failed retries: the host is not offered to machines behind it before it gives up. */
  #holdOffer(machine: M, key: string): void {
    if (!this.#exists(machine)) {
      this.#doubts.delete(machine.metadata.uid ?? "");
      this.#offerAgain(key);
      return;
    }
    const before = this.#waiting.hold(keyOf(machine), parseKey(keyOf(machine)), key);
    if (before !== key) this.#offerAgain(before);
  }

  #offerAgain(key: string | undefined): void {
    const host = this.#host(key);
    if (host !== undefined && this.rules.whyTaken(host) === undefined && !this.isBeingClaimed(host)) this.offer(host);
  }

  #host(key: string | undefined): H | undefined {
    return key === undefined ? undefined : this.cache.get(this.rules.host, parseKey(key));
  }

  #forget(machine: M): void {
    this.#doubts.delete(machine.metadata.uid ?? "");
    this.stopWaiting(machine);
  }

  #exists(machine: M): boolean {
    return this.cache.get(this.rules.machine, parseKey(keyOf(machine)))?.metadata.uid === machine.metadata.uid;
  }

  #isMachine(host: H): boolean {
    return claimOn(host, this.rules.field)?.kind === this.rules.machine.kind;
  }

  #identity(host: H): string | undefined {
    const claim = claimOn(host, this.rules.field);
    return claim === undefined ? undefined : this.rules.identity(claim);
  }
}
