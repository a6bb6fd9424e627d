/** The permission that is needed to read an item: to list this resource in this namespace. */
export interface ItemAccess {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
}

interface Entry {
  /** The serialized item, built once for all readers. */
  readonly json: string;
  readonly seq: number;
  readonly access: ItemAccess;
}

/** What changed in a topic since a position in its sequence. */
export interface TopicChanges {
  /** The reader must drop its state, because it missed too much. */
  readonly reset: boolean;
  readonly set: readonly { readonly key: string; readonly json: string; readonly access: ItemAccess }[];
  /** Keys of deleted items, for readers who may list them. */
  readonly del: readonly { readonly key: string; readonly access: ItemAccess }[];
}

interface Tombstone {
  readonly seq: number;
  readonly access: ItemAccess;
}

const MAX_TOMBSTONES = 2000;

/** Numbers the changes of all topics in a process; the epoch distinguishes one process from the next. */
export class Sequence {
  readonly epoch: string;
  #last = 0;

  constructor(epoch: string) {
    this.epoch = epoch;
  }

  get last(): number {
    return this.#last;
  }

  next(): number {
    return ++this.#last;
  }

  /** The id of an event after which a reader has seen everything up to now. */
  id(): string {
    return `${this.epoch}.${this.#last}`;
  }

  /** The number in an id of this process, or 0: start from nothing. */
  parse(id: string | undefined): number {
    const [epoch, number] = (id ?? "").split(".");
    const parsed = Number(number);
    return epoch === this.epoch && Number.isSafeInteger(parsed) && parsed >= 0 && parsed <= this.#last ? parsed : 0;
  }
}

/** A keyed collection that returns what changed since any position, so that snapshots, live updates and resuming are one operation. */
export class Topic {
  readonly name: string;
  readonly #sequence: Sequence;
  readonly #entries = new Map<string, Entry>();
  readonly #tombstones = new Map<string, Tombstone>();
  readonly #listeners = new Set<() => void>();
  /** The history before this change is incomplete. */
  #floor: number;

  constructor(name: string, sequence: Sequence) {
    this.name = name;
    this.#sequence = sequence;
    // A reader that knew an earlier topic of this name must start again.
    this.#floor = sequence.next();
  }

  get size(): number {
    return this.#entries.size;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** Adds an item; returns whether that changed anything. */
  set(key: string, item: unknown, access: ItemAccess): boolean {
    const json = JSON.stringify(item);
    if (this.#entries.get(key)?.json === json) return false;
    this.#tombstones.delete(key);
    this.#entries.set(key, { json, seq: this.#sequence.next(), access });
    return true;
  }

  /** Removes an item; returns whether it existed. */
  remove(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#tombstones.set(key, { seq: this.#sequence.next(), access: entry.access });
    for (const [oldest, { seq }] of this.#tombstones) {
      if (this.#tombstones.size <= MAX_TOMBSTONES) break;
      this.#tombstones.delete(oldest);
      this.#floor = Math.max(this.#floor, seq);
    }
    return true;
  }

  /** What changed after `cursor`; everything, with `reset`, when that is not known. */
  since(cursor: number): TopicChanges {
    const reset = cursor === 0 || cursor < this.#floor;
    const set: { key: string; json: string; access: ItemAccess }[] = [];
    for (const [key, entry] of this.#entries)
      if (reset || entry.seq > cursor) set.push({ key, json: entry.json, access: entry.access });
    const del: { key: string; access: ItemAccess }[] = [];
    if (!reset) for (const [key, { seq, access }] of this.#tombstones) if (seq > cursor) del.push({ key, access });
    return { reset, set, del };
  }

  /** Notifies readers of changes. */
  announce(): void {
    for (const listener of this.#listeners) listener();
  }

  get read(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
