import {
  type Clock,
  type KubeObject,
  labelSelectorFromObject,
  parseLabelSelector,
  type Random,
  type Status,
  type Unstructured,
} from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";
import type { WriteObserver } from "../client/options.ts";
import { type Kind, type KindRef, keyText, kindId, kindText, type ObjectKey } from "../kind.ts";
import { type Logger, silentLogger } from "../log/logger.ts";
import type { IndexFunction } from "./indexed-store.ts";
import { Informer, type InformerDeps } from "./informer.ts";
import type { InformerScope } from "./reflector.ts";

/** Settings of a cache. */
export interface CacheOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Logger | undefined;
  /** Ask for the existing objects by watch (WatchList) instead of a list; servers that cannot are noticed. */
  readonly watchList?: boolean | undefined;
}

/** Selects cached objects by namespace and labels. */
export interface CacheListOptions {
  readonly namespace?: string | undefined;
  /** A selector text, or the metav1.LabelSelector of an object. */
  readonly labelSelector?: string | Parameters<typeof labelSelectorFromObject>[0];
}

interface Entry {
  informer: Informer<KubeObject>;
  users: number;
  /** False once the informer was stopped and left the cache. */
  live: boolean;
}

/** Thrown when a kind is read before its first list is complete, as happens at every start; the caller retries. */
export class NotSyncedError extends Error {
  readonly kind: KindRef;

  constructor(kind: KindRef) {
    super(`${kindText(kind)} is not in the cache yet: wait for its informer's first list`);
    this.name = "NotSyncedError";
    this.kind = kind;
  }
}

/**
 * Holds one informer per kind, shared by all controllers of the process. Reads are synchronous and return frozen, shared objects: copy
 * before changing. Reads see the writes of `cache.client` as soon as the write's promise resolves.
 */
export class Cache implements WriteObserver {
  /** A client whose writes this cache sees at once. */
  readonly client: Client;
  readonly #deps: InformerDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #scopes = new Map<string, InformerScope>();
  readonly #byKind = new WeakMap<KindRef, Entry>();
  #started = false;

  constructor(client: Client, options: CacheOptions) {
    this.client = client.withObserver(this);
    this.#deps = {
      client: this.client,
      clock: options.clock,
      random: options.random,
      log: options.log ?? silentLogger,
      server: { watchList: options.watchList ?? true },
    };
  }

  /** Restricts what is held of a kind; before its first use. */
  restrict(kind: KindRef, scope: InformerScope): void {
    if (this.#entries.has(kindId(kind)))
      throw new Error(`${kindText(kind)} is already in use: restrict it before its first use`);
    this.#scopes.set(kindId(kind), scope);
  }

  /** The informer of a kind, made and (once the cache runs) started on first use; it stays until the cache stops. */
  informer<T extends KubeObject = Unstructured>(kind: Kind<T>): Informer<T> {
    return this.#entry(kind).informer as unknown as Informer<T>;
  }

  /**
   * The informer of a kind for as long as it is needed: the last `release` stops it. For kinds that turn up at run time, such
   * as the targets of contract references.
   */
  acquire<T extends KubeObject = Unstructured>(kind: Kind<T>): { informer: Informer<T>; release: () => Promise<void> } {
    const entry = this.#entry(kind, 1);
    let released = false;
    const release = async (): Promise<void> => {
      if (released) return;
      released = true;
      if (--entry.users > 0) return;
      this.#entries.delete(kindId(kind));
      entry.live = false;
      await entry.informer.stop();
    };
    return { informer: entry.informer as unknown as Informer<T>, release };
  }

  /** Adds an index; values of `byIndex` with this name. */
  addIndex<T extends KubeObject>(kind: Kind<T>, name: string, valuesOf: IndexFunction<T>): void {
    const { store } = this.informer(kind);
    if (!store.hasIndex(name)) store.addIndex(name, valuesOf);
  }

  /** Starts all informers requested so far; later ones start on first use. */
  start(): void {
    this.#started = true;
    for (const { informer } of this.#entries.values()) informer.start();
  }

  /** Stops all informers. */
  async stop(): Promise<void> {
    this.#started = false;
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) entry.live = false;
    await Promise.all(entries.map(({ informer }) => informer.stop()));
  }

  /** Resolves once all informers requested so far are synced; false if stopped before. */
  async waitForSync(signal?: AbortSignal): Promise<boolean> {
    const results = await Promise.all([...this.#entries.values()].map(({ informer }) => informer.waitForSync(signal)));
    return results.every((synced) => synced);
  }

  /** The object as last seen, or undefined. Throws when the kind's first list is not complete, as nothing is known then. */
  get<T extends KubeObject = Unstructured>(kind: Kind<T>, key: ObjectKey): T | undefined {
    return this.#readable(kind).store.get(keyText(key.namespace, key.name));
  }

  /** The objects as last seen, in no particular order. */
  list<T extends KubeObject = Unstructured>(kind: Kind<T>, options: CacheListOptions = {}): T[] {
    const items = this.#readable(kind).store.list(options.namespace);
    if (options.labelSelector === undefined) return items;
    const selector =
      typeof options.labelSelector === "string"
        ? parseLabelSelector(options.labelSelector)
        : labelSelectorFromObject(options.labelSelector);
    return items.filter((item) => selector.matches(item.metadata.labels));
  }

  /** The objects an index files under a value. */
  byIndex<T extends KubeObject = Unstructured>(kind: Kind<T>, index: string, value: string): T[] {
    return this.#readable(kind).store.byIndex(index, value);
  }

  /** Calls back once the kind that `error` found unsynced is synced; returns whether the error is a NotSyncedError. */
  afterSync(error: unknown, again: () => void, signal?: AbortSignal): boolean {
    const informer = error instanceof NotSyncedError ? this.#find(error.kind)?.informer : undefined;
    if (informer === undefined) return false;
    void informer.waitForSync(signal).then((synced) => {
      if (synced && signal?.aborted !== true) again();
    });
    return true;
  }

  /** Whether a kind is watched and its first list complete. */
  synced(kind: KindRef): boolean {
    return this.#entries.get(kindId(kind))?.informer.synced ?? false;
  }

  /** Kinds that cannot be watched at the moment, with the reason; for readiness and messages. */
  problems(): { kind: KindRef; error: unknown }[] {
    return [...this.#entries.values()]
      .filter(({ informer }) => informer.error !== undefined)
      .map(({ informer }) => ({ kind: informer.kind, error: informer.error }));
  }

  /** The kinds in the cache. */
  kinds(): KindRef[] {
    return [...this.#entries.values()].map(({ informer }) => informer.kind);
  }

  written(kind: KindRef, object: KubeObject): void {
    this.#find(kind)?.informer.written(object);
  }

  deleted(kind: KindRef, key: ObjectKey, answer: KubeObject | Status): void {
    this.#find(kind)?.informer.deleted(key, answer);
  }

  #find(kind: KindRef): Entry | undefined {
    const known = this.#byKind.get(kind);
    if (known?.live === true) return known;
    const entry = this.#entries.get(kindId(kind));
    if (entry !== undefined) this.#byKind.set(kind, entry);
    return entry;
  }

  #readable<T extends KubeObject>(kind: Kind<T>): Informer<T> {
    const entry = this.#find(kind);
    if (entry === undefined) {
      throw new Error(`${kindText(kind)} is not in the cache: let the controller watch it, or call cache.informer()`);
    }
    if (!entry.informer.synced) {
      throw new NotSyncedError(kind);
    }
    return entry.informer as unknown as Informer<T>;
  }

  #entry(kind: KindRef, users = Number.POSITIVE_INFINITY): Entry {
    const id = kindId(kind);
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      this.client.mapper.register(kind);
      const informer = new Informer<KubeObject>(kind as Kind<KubeObject>, this.#scopes.get(id) ?? {}, this.#deps);
      entry = { informer, users: 0, live: true };
      this.#entries.set(id, entry);
      if (this.#started) informer.start();
    }
    entry.users += users;
    return entry;
  }
}
