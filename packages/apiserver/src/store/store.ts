import type { Unstructured } from "@capstan/apimachinery";

/**
 * Where bytes go to survive. One commit is atomic and durable when its promise resolves; commits may be in flight at once and
 * become durable in the order they were made; when one fails, so do all that were made before its rejection was seen. Everything about objects (parsing, watching, conflicts) is ObjectStore's.
 */
export interface Store {
  /** Everything current, once, at start. Throws StoreError with a cure when the data cannot be trusted. */
  load(): Promise<LoadedStore>;
  /** Resolves after fdatasync. `revision` grows by one per entry; a null value deletes the key. */
  commit(entries: StoreEntry[]): Promise<void>;
  /** The state of all keys under `prefix` as of `revision`, in key order; throws CompactedError when it is gone. */
  readAt(revision: number, prefix: string): Promise<StoredBytes[]>;
  /** The recorded changes after `revision`, oldest first (to refill the ring after a restart). */
  readLog(afterRevision: number): Promise<LoggedEntry[]>;
  /** Forgets history up to and including `revision`, never current objects. */
  compact(revision: number): Promise<void>;
  /** Writes a consistent copy while running. */
  backup(path: string): Promise<void>;
  /** Why nothing can be written until a restart, with its cure; undefined when all is well. */
  problem?(): string | undefined;
  /** Why a write must not even be tried now, e.g. because the disk is full; `shrinks` = it leads to a deletion. */
  refusal?(shrinks: boolean): StoreError | undefined;
  close(): Promise<void>;
}

export interface StoreEntry {
  revision: number;
  key: string;
  /** May be made when asked for: a store that keeps values in memory need not ask. */
  readonly bytes: Uint8Array | null;
  /** Whether `bytes` is null, told without asking for it. */
  deleted?: boolean;
  /** What `bytes` say, where it is at hand. */
  readonly object?: Unstructured;
}

/** A recorded change together with what it replaced. */
export interface LoggedEntry extends StoreEntry {
  previous?: StoredBytes;
}

export interface StoredBytes {
  key: string;
  revision: number;
  readonly bytes: Uint8Array;
  /** What `bytes` say, where the store can give it for less. */
  readonly object?: Unstructured;
}

export interface LoadedStore {
  revision: number;
  compactedRevision: number;
  objects: StoredBytes[];
}

/** The history asked for has been compacted away. */
export class CompactedError extends Error {
  readonly compactedRevision: number;

  constructor(compactedRevision: number) {
    super(`revisions up to ${compactedRevision} have been compacted`);
    this.name = "CompactedError";
    this.compactedRevision = compactedRevision;
  }
}

/** The data directory cannot be used; `cure` says what a person can do. */
export class StoreError extends Error {
  readonly cure: string;

  constructor(message: string, cure: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "StoreError";
    this.cure = cure;
  }
}
