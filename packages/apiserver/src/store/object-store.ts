import { badRequest, type Clock } from "@capstan/apimachinery";
import { ChangeRing } from "./change-ring.ts";
import { isTooLong } from "./keys.ts";
import type { Mutation, MutationResult, ObjectStore, StoredChange, StoredObject } from "./object-store.types.ts";
import { ResourceIndex } from "./resource-index.ts";
import {
  CompactedError,
  type LoggedEntry,
  type Store,
  type StoredBytes,
  type StoreEntry,
  StoreError,
} from "./store.ts";
import { Stored } from "./stored.ts";
import { type Sink, Subscriptions } from "./subscriptions.ts";

/** How an ObjectStore is opened. */
export interface ObjectStoreOptions {
  clock: Clock;
  /** How many changes watchers and exact lists can go back; default 10,000. */
  ring?: number;
  /** Called for background failures: a throwing subscriber, a failed compaction. */
  onError?: (error: unknown) => void;
}

/** Changes that travel to disk together. */
interface Batch {
  readonly changes: StoredChange[];
  readonly entries: StoreEntry[];
  state: "open" | "sent" | "durable" | "failed";
  error?: unknown;
  /** Settles once the changes are durable and visible, or have failed and are rolled back. */
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface PendingWrite {
  readonly change: StoredChange;
  readonly batch: Batch;
}

const DEFAULT_RING = 10_000;

/** Loads everything `store` holds and serves it from memory. */
export async function openObjectStore(store: Store, options: ObjectStoreOptions): Promise<ObjectStore> {
  const loaded = await store.load();
  const capacity = options.ring ?? DEFAULT_RING;
  const index = new ResourceIndex();
  for (const stored of loaded.objects) index.set(Stored.fromStored(stored));
  const ring = new ChangeRing(capacity, loaded.compactedRevision);
  for (const entry of await store.readLog(loaded.compactedRevision)) ring.push(recordedChange(entry, index));
  return new DurableObjectStore(store, options, index, ring, loaded.revision, loaded.compactedRevision);
}

/** A change as it was before the restart; a change that is still the newest of its key shares the current object. */
function recordedChange(entry: LoggedEntry, index: ResourceIndex): StoredChange {
  const { revision, key } = entry;
  const previous = entry.previous === undefined ? undefined : Stored.fromStored(entry.previous);
  if (entry.deleted ?? entry.bytes === null) {
    if (previous === undefined) return { revision, key };
    return { revision, key, previous, deleted: Stored.tombstone(key, revision, previous.object) };
  }
  const newest = index.get(key);
  const current = newest?.revision === revision ? newest : Stored.fromStored(entry as StoredBytes);
  return previous === undefined ? { revision, key, current } : { revision, key, current, previous };
}

class DurableObjectStore implements ObjectStore {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #history: number;
  readonly #onError: (error: unknown) => void;
  readonly #index: ResourceIndex;
  readonly #ring: ChangeRing;
  readonly #subscriptions: Subscriptions;
  /** Newest write per key that is not durable yet: what compare-and-swap sees. */
  readonly #pending = new Map<string, PendingWrite>();
  readonly #waiters = new Set<{ revision: number; wake: (reached: boolean) => void }>();
  /** Sent to the store, oldest first; applied in this order. */
  readonly #sent: Batch[] = [];
  #batch: Batch | undefined;
  #durableRevision: number;
  #lastRevision: number;
  #compacted: number;
  #compacting = false;
  #closed = false;

  constructor(
    store: Store,
    options: ObjectStoreOptions,
    index: ResourceIndex,
    ring: ChangeRing,
    revision: number,
    compacted: number,
  ) {
    this.#store = store;
    this.#clock = options.clock;
    this.#history = options.ring ?? DEFAULT_RING;
    this.#onError = options.onError ?? (() => {});
    this.#index = index;
    this.#ring = ring;
    this.#subscriptions = new Subscriptions(this.#onError);
    this.#durableRevision = revision;
    this.#lastRevision = revision;
    this.#compacted = compacted;
  }

  revision(): number {
    return this.#durableRevision;
  }

  compactedRevision(): number {
    return this.#compacted;
  }

  get(key: string): StoredObject | undefined {
    return this.#index.get(key);
  }

  peek(key: string): StoredObject | undefined {
    const pending = this.#pending.get(key);
    return pending === undefined ? this.#index.get(key) : pending.change.current;
  }

  peekAll(prefix: string): readonly StoredObject[] {
    const unwritten = [...this.#pending.values()]
      .map(({ change }) => change)
      .filter(({ key }) => key.startsWith(prefix));
    if (unwritten.length === 0) return this.#index.list(prefix);
    const newest = new Map(this.#index.list(prefix).map((stored) => [stored.key, stored]));
    for (const { key, current } of unwritten) {
      if (current === undefined) newest.delete(key);
      else newest.set(key, current);
    }
    return [...newest.values()];
  }

  list(prefix: string): { revision: number; items: readonly StoredObject[] } {
    return { revision: this.#durableRevision, items: this.#index.list(prefix) };
  }

  count(prefix: string): number {
    return this.#index.count(prefix);
  }

  async listAt(prefix: string, revision: number): Promise<readonly StoredObject[]> {
    if (revision >= this.#durableRevision) return this.#index.list(prefix);
    if (revision < this.#ring.floor()) {
      const stored = await this.#store.readAt(revision, prefix);
      return stored.map((object) => Stored.fromStored(object));
    }
    const undone = new Map<string, StoredObject | undefined>();
    // The oldest change after `revision` says what there was at it.
    for (const change of this.#ring.after(revision, prefix)) {
      if (!undone.has(change.key)) undone.set(change.key, change.previous);
    }
    const now = this.#index.list(prefix);
    if (undone.size === 0) return now;
    const then = now.filter((stored) => !undone.has(stored.key));
    for (const stored of undone.values()) if (stored !== undefined) then.push(stored);
    return then.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  mutate(key: string, decide: (current: StoredObject | undefined) => Mutation): Promise<MutationResult> {
    if (this.#closed) return Promise.reject(closedError());
    if (isTooLong(key))
      return Promise.reject(badRequest(`metadata.name: ${key.slice(0, 80)}… is too long to be stored`));
    const pending = this.#pending.get(key);
    const current = pending === undefined ? this.#index.get(key) : pending.change.current;
    let mutation: Mutation;
    try {
      mutation = decide(current);
    } catch (error) {
      // Rejected because of a write that is not readable yet: a caller that reads and retries must find it.
      return refuse(error, pending);
    }
    if (mutation.type === "none" || (mutation.type === "delete" && current === undefined)) {
      const unchanged = { changed: false, stored: current };
      return pending === undefined ? Promise.resolve(unchanged) : pending.batch.done.then(() => unchanged);
    }
    const refusal = this.#store.refusal?.(shrinks(mutation));
    return refusal === undefined ? this.#write(key, current, mutation) : Promise.reject(refusal);
  }

  subscribe(prefix: string, fromRevision: number, sink: Sink): () => void {
    if (fromRevision < this.#ring.floor()) throw new CompactedError(this.#ring.floor());
    const missed = fromRevision < this.#durableRevision ? this.#ring.after(fromRevision, prefix) : [];
    const unsubscribe = this.#subscriptions.add(prefix, Math.max(fromRevision, this.#durableRevision), sink);
    if (missed.length > 0) sink(missed, this.#durableRevision);
    return unsubscribe;
  }

  waitFor(revision: number, timeoutMs: number): Promise<boolean> {
    if (revision <= this.#durableRevision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const cancel = this.#clock.after(timeoutMs, () => waiter.wake(false));
      const waiter = {
        revision,
        wake: (reached: boolean): void => {
          cancel();
          this.#waiters.delete(waiter);
          resolve(reached);
        },
      };
      this.#waiters.add(waiter);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const open = [...this.#sent, ...(this.#batch === undefined ? [] : [this.#batch])];
    await Promise.allSettled(open.map((batch) => batch.done));
    for (const waiter of this.#waiters) waiter.wake(false);
    await this.#store.close();
  }

  async #write(
    key: string,
    previous: StoredObject | undefined,
    mutation: Exclude<Mutation, { type: "none" }>,
  ): Promise<MutationResult> {
    const revision = this.#lastRevision + 1;
    const change = changeFor(key, revision, previous, mutation);
    this.#lastRevision = revision;
    const batch = this.#openBatch();
    batch.changes.push(change);
    batch.entries.push(entryOf(revision, key, change.current));
    this.#pending.set(key, { change, batch });
    await batch.done;
    return { changed: true, stored: change.current ?? change.deleted };
  }

  /** The batch that collects until this turn's synchronous work is over. */
  #openBatch(): Batch {
    if (this.#batch !== undefined) return this.#batch;
    const batch = newBatch();
    this.#batch = batch;
    queueMicrotask(() => this.#send(batch));
    return batch;
  }

  /** Batches do not wait for each other: the store groups what is in flight, and serialising them would cost a factor of three. */
  #send(batch: Batch): void {
    this.#batch = undefined;
    batch.state = "sent";
    this.#sent.push(batch);
    this.#store.commit(batch.entries).then(
      () => this.#settle(batch, "durable"),
      (error: unknown) => {
        batch.error = error;
        this.#settle(batch, "failed");
      },
    );
  }

  #settle(batch: Batch, state: "durable" | "failed"): void {
    batch.state = state;
    for (let head = this.#sent[0]; head !== undefined; head = this.#sent[0]) {
      if (head.state !== "durable" && head.state !== "failed") return;
      this.#sent.shift();
      if (head.state === "durable") this.#apply(head);
      else this.#rollBack(head);
    }
  }

  #apply(batch: Batch): void {
    for (const change of batch.changes) {
      if (change.current === undefined) this.#index.delete(change.key);
      else this.#index.set(change.current);
      this.#ring.push(change);
      this.#durableRevision = change.revision;
      this.#forget(change);
    }
    batch.resolve();
    this.#subscriptions.deliver(batch.changes, this.#durableRevision);
    for (const waiter of this.#waiters) if (waiter.revision <= this.#durableRevision) waiter.wake(true);
    this.#compactIfDue();
  }

  /** Later writes that build on these are in later batches, which fail too and are rolled back in turn. */
  #rollBack(batch: Batch): void {
    for (const change of batch.changes) this.#forget(change);
    batch.reject(batch.error);
  }

  #forget(change: StoredChange): void {
    if (this.#pending.get(change.key)?.change === change) this.#pending.delete(change.key);
  }

  /** Driven by writes, not by a timer: an idle server stays silent. */
  #compactIfDue(): void {
    const slack = Math.ceil(this.#history / 10);
    if (this.#compacting || this.#durableRevision - this.#compacted < this.#history + slack) return;
    const target = this.#durableRevision - this.#history;
    this.#compacting = true;
    this.#store
      .compact(target)
      .then(() => {
        this.#compacted = target;
      }, this.#onError)
      .finally(() => {
        this.#compacting = false;
      });
  }
}

/** Deletions, and updates of objects that are being deleted, free space eventually. */
function shrinks(mutation: Exclude<Mutation, { type: "none" }>): boolean {
  return mutation.type === "delete" || mutation.object.metadata.deletionTimestamp !== undefined;
}

function changeFor(
  key: string,
  revision: number,
  previous: StoredObject | undefined,
  mutation: Exclude<Mutation, { type: "none" }>,
): StoredChange {
  if (mutation.type === "put") {
    const current = Stored.fromObject(key, revision, mutation.object);
    return previous === undefined ? { revision, key, current } : { revision, key, current, previous };
  }
  const last = mutation.object ?? previous?.object;
  if (previous === undefined || last === undefined) return { revision, key };
  return { revision, key, previous, deleted: Stored.tombstone(key, revision, last) };
}

function newBatch(): Batch {
  let resolve: () => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const done = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { changes: [], entries: [], state: "open", done, resolve, reject };
}

async function refuse(error: unknown, pending: PendingWrite | undefined): Promise<never> {
  if (pending !== undefined) await Promise.allSettled([pending.batch.done]);
  throw error;
}

function closedError(): StoreError {
  return new StoreError("the store is closed", "The server is stopping: repeat the request once it runs again.");
}

/** Encoding is left to stores that need it. */
function entryOf(revision: number, key: string, current: StoredObject | undefined): StoreEntry {
  if (current === undefined) return { revision, key, bytes: null, deleted: true };
  return {
    revision,
    key,
    deleted: false,
    object: current.object,
    get bytes() {
      return current.bytes;
    },
  };
}
