import { resourceOf } from "./keys.ts";
import type { StoredChange } from "./object-store.types.ts";

/** Receives changes in revision order; see ObjectStore.subscribe(). */
export type Sink = (changes: readonly StoredChange[], revision: number) => void;

interface Subscriber {
  readonly prefix: string;
  /** Whether every change of the resource is wanted, so that no key has to be compared. */
  readonly whole: boolean;
  readonly sink: Sink;
  /** Changes up to this revision have been delivered. */
  position: number;
}

/** Subscribers, kept per resource so that a change costs nothing to watchers of other resources. */
export class Subscriptions {
  readonly #byResource = new Map<string, Set<Subscriber>>();
  readonly #spanning = new Set<Subscriber>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Adds a subscriber that has seen everything up to `position`. */
  add(prefix: string, position: number, sink: Sink): () => void {
    const resource = resourceOf(prefix);
    const whole = resource === undefined ? prefix === "" : prefix.length === resource.length + 1;
    const subscriber: Subscriber = { prefix, whole, sink, position };
    if (resource === undefined) {
      this.#spanning.add(subscriber);
      return () => this.#spanning.delete(subscriber);
    }
    const peers = this.#byResource.get(resource) ?? new Set();
    this.#byResource.set(resource, peers.add(subscriber));
    return () => {
      peers.delete(subscriber);
      if (peers.size === 0 && this.#byResource.get(resource) === peers) this.#byResource.delete(resource);
    };
  }

  /** Hands out changes that have just become durable, in order. */
  deliver(changes: readonly StoredChange[], revision: number): void {
    for (const subscriber of this.#spanning) this.#hand(subscriber, changes, revision);
    if (this.#byResource.size === 0) return;
    for (const [resource, ofResource] of groupByResource(changes)) {
      const peers = this.#byResource.get(resource);
      if (peers === undefined) continue;
      for (const subscriber of peers) this.#hand(subscriber, ofResource, revision);
    }
  }

  #hand(subscriber: Subscriber, changes: readonly StoredChange[], revision: number): void {
    // A subscriber added during this delivery got these from the ring.
    if (subscriber.position >= revision) return;
    const after = subscriber.position;
    subscriber.position = revision;
    // Nearly always everything is new and of the whole resource: then all subscribers share one array.
    const all = subscriber.whole && (changes[0]?.revision ?? 0) > after;
    const isWanted = (change: StoredChange): boolean =>
      change.revision > after && (subscriber.whole || change.key.startsWith(subscriber.prefix));
    const wanted = all ? changes : changes.filter(isWanted);
    if (wanted.length === 0) return;
    try {
      subscriber.sink(wanted, revision);
    } catch (error) {
      this.#onError(error);
    }
  }
}

function groupByResource(changes: readonly StoredChange[]): Iterable<readonly [string, readonly StoredChange[]]> {
  const first = changes[0];
  if (first === undefined) return [];
  if (changes.length === 1) return [[resourceOf(first.key) ?? "", changes]];
  const groups = new Map<string, StoredChange[]>();
  for (const change of changes) {
    const resource = resourceOf(change.key) ?? "";
    const group = groups.get(resource);
    if (group === undefined) groups.set(resource, [change]);
    else group.push(change);
  }
  return groups;
}
