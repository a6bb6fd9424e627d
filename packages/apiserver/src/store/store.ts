import type { Unstructured } from "@capstan/apimachinery";

/**
 * Stores bytes durably; parsing, watches and conflicts are left to ObjectStore. A commit is atomic, and durable when its promise
 * resolves. Concurrent commits become durable in order; when one fails, so do all that were made before its rejection was seen.
 */
export interface Store {
  /** Returns all current objects; called once at start. Throws StoreError, with a cure, when the data is damaged. */
  load(): Promise<LoadedStore>;
  /** Resolves after fdatasync. `revision` grows by one per entry; a null value deletes the key. */
  commit(entries: StoreEntry[]): Promise<void>;
  /** The state of all keys under `prefix` as of `revision`, in key order; throws CompactedError when it has been compacted. */
  readAt(revision: number, prefix: string): Promise<StoredBytes[]>;
  /** The recorded changes after `revision`, oldest first (to refill the ring after a restart). */
  readLog(afterRevision: number): Promise<LoggedEntry[]>;
  /** Deletes the history up to and including `revision`, but never current objects. */
  compact(revision: number): Promise<void>;
  /** Writes a consistent copy while running. */
  backup(path: string): Promise<void>;
  /** Why nothing can be written until a restart, and what to do about it; undefined while the store works. */
  problem?(): string | undefined;
  /** Why a write is rejected up front, e.g. because the disk is full; `shrinks`: whether the write is part of a deletion. */
  refusal?(shrinks: boolean): StoreError | undefined;
  close(): Promise<void>;
}

/** One write of a commit: the new bytes of a key, or its deletion. */
export interface StoreEntry {
  revision: number;
  key: string;
  /** May be a getter that encodes the object, so that stores in memory avoid the encoding by not reading it. */
  readonly bytes: Uint8Array | null;
  /** Whether `bytes` is null; known without reading `bytes`. */
  deleted?: boolean;
  /** The object that `bytes` encode, if it is available. */
  readonly object?: Unstructured;
}

/** A change from the history, together with the state that it replaced. */
export interface LoggedEntry extends StoreEntry {
  previous?: StoredBytes;
}

/** The bytes of one key at the revision that wrote them. */
export interface StoredBytes {
  key: string;
  revision: number;
  readonly bytes: Uint8Array;
  /** The object that `bytes` encode, if the store can return it without parsing. */
  readonly object?: Unstructured;
}

/** The content of a store at start: its revisions and all current objects. */
export interface LoadedStore {
  revision: number;
  compactedRevision: number;
  objects: StoredBytes[];
}

/** The requested revision has been compacted. */
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
