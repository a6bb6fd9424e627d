import { join } from "node:path";
import { type Clock, type Random, systemRandom } from "@capstan/apimachinery";
import { backupDatabase } from "./backup.ts";
import { databaseFolder, ensureDirectory, FORMAT, newerFormat, readManifest, writeManifest } from "./data-directory.ts";
import type { DiskReserve } from "./disk-reserve.ts";
import type { EncryptionKeys } from "./encryption.ts";
import { openDatabase, type Records, recordsOf, transact } from "./lmdb-database.ts";
import { type Migration, migrate } from "./migration.ts";
import { lockDirectory } from "./process-lock.ts";
import {
  type Codec,
  DAMAGE_CURE,
  damaged,
  decodeLog,
  decodeObject,
  decodeState,
  encodeLog,
  encodeObject,
  encodeState,
  LOG,
  logKey,
  META,
  needsReencryption,
  OBJECT,
  objectKey,
  revisionOfLogKey,
  STATE_KEY,
  type StoreState,
  splitLog,
} from "./records.ts";
import {
  CompactedError,
  type LoadedStore,
  type LoggedEntry,
  type Store,
  type StoredBytes,
  type StoreEntry,
  StoreError,
} from "./store.ts";
import { changesOf, type UndoRecord, undo } from "./undo-log.ts";
import { isDiskFull, openError, writeError } from "./write-error.ts";

/** How a durable store is opened. */
export interface LmdbStoreOptions {
  clock?: Clock;
  /** Secrets are encrypted with the first of these; without keys they are stored as they are. */
  encryptionKeys?: EncryptionKeys;
  random?: Random;
  /** Steps from older formats; for tests, the built-in list serves otherwise. */
  migrations?: readonly Migration[];
  /** Space of the disk that is kept for deletions and restarts when it is full. */
  reserve?: DiskReserve;
  /** Called when data of an older format was migrated, with the folder that keeps the old data. */
  onMigrated?: (from: number, kept: string) => void;
}

/** A durable store, with what only files need. */
export interface LmdbStore extends Store {
  /** Encrypts Secrets and their history with the first key where they are not; returns how many records it wrote. */
  reencrypt(): Promise<number>;
}

interface PreparedWrite {
  readonly key: string;
  readonly objectKey: Buffer;
  readonly logKey: Buffer;
  /** Undefined deletes. */
  readonly record: Buffer | undefined;
}

/** Records handled per transaction by long jobs, which must not hold up ordinary commits. */
const CHUNK = 500;

/** Opens or creates the store in `directory`, which belongs to this process until close(). */
export async function openLmdbStore(directory: string, options: LmdbStoreOptions = {}): Promise<LmdbStore> {
  let unlock: () => void = () => {};
  try {
    await ensureDirectory(directory);
    unlock = lockDirectory(directory);
    const folder = await prepareData(directory, options);
    const codec: Codec = { keys: options.encryptionKeys ?? [], random: options.random ?? systemRandom };
    const database = await openDatabase(folder);
    return new DurableStore(database, codec, {
      reserve: options.reserve,
      backup: (path) => backupDatabase(database, path),
      close: async () => {
        await database.close();
        unlock();
      },
    });
  } catch (error) {
    unlock();
    throw error instanceof StoreError ? error : openError(directory, error);
  }
}

/** What a store does with the files that its records are in. */
export interface StoreFiles {
  /** Space on their disk for the time when it is full. */
  readonly reserve?: DiskReserve;
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

/** The database folder of the current format, after migrating or creating what is needed. */
export async function prepareData(directory: string, options: LmdbStoreOptions): Promise<string> {
  const manifest = await readManifest(directory);
  if (manifest === undefined) {
    const folder = join(directory, databaseFolder(FORMAT));
    await ensureDirectory(folder);
    await writeManifest(directory, { format: FORMAT, database: databaseFolder(FORMAT) });
    return folder;
  }
  if (manifest.format > FORMAT) throw newerFormat(directory, manifest.format);
  if (manifest.format === FORMAT) return join(directory, manifest.database);
  const kept = await migrate(directory, manifest, options.migrations ?? []);
  options.onMigrated?.(manifest.format, kept);
  return join(directory, databaseFolder(FORMAT));
}

/** A store over the records of a database. */
export class DurableStore implements LmdbStore {
  readonly #database: Records;
  readonly #codec: Codec;
  readonly #files: StoreFiles;
  /** Newest revision passed to commit(): each commit checks that the previous one happened. */
  #issued: number | undefined;
  #inFlight = 0;
  #failure: StoreError | undefined;
  /** Set when it is unknown what is on disk; only a restart resolves that. */
  #broken: StoreError | undefined;
  #closed = false;

  constructor(database: Records, codec: Codec, files: StoreFiles) {
    this.#database = database;
    this.#codec = codec;
    this.#files = files;
  }

  async load(): Promise<LoadedStore> {
    this.#checkTables();
    const state = this.#state();
    const objects: StoredBytes[] = [];
    for (const { key, value } of recordsOf(this.#database, OBJECT)) {
      const object = decodeObject(this.#codec, key, value);
      if (object.revision > state.revision) {
        throw new StoreError(`${object.key} is newer than the newest revision ${state.revision}`, DAMAGE_CURE);
      }
      objects.push(object);
    }
    this.#issued = state.revision;
    return { revision: state.revision, compactedRevision: state.compacted, objects };
  }

  async commit(entries: StoreEntry[]): Promise<void> {
    const last = entries.at(-1);
    if (last === undefined) return;
    this.#requireWritable();
    const writes = entries.map((entry) => this.#prepare(entry));
    const after = (this.#issued ??= this.#state().revision);
    this.#issued = last.revision;
    this.#inFlight++;
    const hadReserve = this.#files.reserve?.kept === true;
    const write = (): Promise<void> => this.#write(writes, after, last.revision);
    try {
      await write().catch(async (error: unknown) => {
        const failure = this.#failed(error, last.revision);
        if (!hadReserve || !isDiskFull(failure) || this.#broken !== undefined) throw failure;
        // This commit found the disk full, and may be a deletion: it is what the reserve, released now, is for. Commits that were
        // in flight with it come here in the same order.
        await write().catch((again: unknown) => {
          throw this.#failed(again, last.revision);
        });
      });
    } finally {
      this.#settled();
    }
  }

  #write(writes: readonly PreparedWrite[], after: number, revision: number): Promise<void> {
    return transact(this.#database, () => {
      const state = this.#state();
      // Several commits share one transaction on disk and an error thrown here would not undo what was put: all that can
      // fail comes first.
      if (state.revision !== after) throw this.#predecessorFailed(state.revision);
      const logs = this.#logRecords(writes);
      for (const [i, write] of writes.entries()) {
        void this.#database.put(write.logKey, logs[i] ?? Buffer.alloc(0));
        if (write.record !== undefined) void this.#database.put(write.objectKey, write.record);
        else void this.#database.remove(write.objectKey);
      }
      void this.#database.put(STATE_KEY, encodeState({ ...state, revision }));
    });
  }

  async readAt(revision: number, prefix: string): Promise<StoredBytes[]> {
    const current: StoredBytes[] = [];
    for (const { key, value } of recordsOf(this.#database, OBJECT, { start: objectKey(prefix) })) {
      const object = decodeObject(this.#codec, key, value);
      if (!object.key.startsWith(prefix)) break;
      current.push(object);
    }
    return undo(current, this.#recordsAfter(revision), prefix);
  }

  async readLog(afterRevision: number): Promise<LoggedEntry[]> {
    return changesOf(this.#recordsAfter(afterRevision), (key) => {
      const dbKey = objectKey(key);
      const record = this.#database.getBinary(dbKey);
      return record === undefined ? undefined : decodeObject(this.#codec, dbKey, record);
    });
  }

  async compact(revision: number): Promise<void> {
    for (;;) {
      this.#requireWritable();
      const removed = await transact(this.#database, () => {
        const state = this.#state();
        const target = Math.min(revision, state.revision);
        if (target <= state.compacted) return 0;
        const keys = [...this.#database.getKeys({ start: logKey(0), end: logKey(target + 1), limit: CHUNK })];
        for (const key of keys) void this.#database.remove(key);
        // Recorded with every chunk: a reader between two chunks, or after a crash, must not mistake the rest for everything.
        const last = keys.length < CHUNK ? undefined : keys.at(-1);
        const compacted = last === undefined ? target : revisionOfLogKey(last);
        void this.#database.put(STATE_KEY, encodeState({ ...state, compacted }));
        return keys.length;
      });
      if (removed < CHUNK) return;
    }
  }

  async reencrypt(): Promise<number> {
    let written = 0;
    for (const table of [OBJECT, LOG]) {
      let start: Buffer | undefined = Buffer.from([table]);
      while (start !== undefined) {
        this.#requireWritable();
        const from: Buffer = start;
        start = await transact(this.#database, () => {
          const chunk = [...this.#database.getRange({ start: from, end: Buffer.from([table + 1]), limit: CHUNK })];
          for (const { key, value } of chunk) if (this.#reencryptRecord(key, value)) written++;
          const last = chunk.at(-1);
          return chunk.length < CHUNK || last === undefined ? undefined : Buffer.concat([last.key, Buffer.from([0])]);
        });
      }
    }
    return written;
  }

  async backup(path: string): Promise<void> {
    if (this.#closed) throw closedError();
    await this.#files.backup(path);
  }

  problem(): string | undefined {
    const problem = this.#broken ?? this.#files.reserve?.refusal();
    return problem === undefined ? undefined : `${problem.message}. ${problem.cure}`;
  }

  refusal(shrinks: boolean): StoreError | undefined {
    return shrinks ? undefined : this.#files.reserve?.refusal();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#files.close();
  }

  /** What each write replaces, be it on disk or written by an earlier one of the same commit. */
  #logRecords(writes: readonly PreparedWrite[]): Buffer[] {
    const newest = new Map<string, Buffer | undefined>();
    return writes.map((write) => {
      const replaced = newest.has(write.key) ? newest.get(write.key) : this.#database.getBinary(write.objectKey);
      if (writes.length > 1) newest.set(write.key, write.record);
      return encodeLog(write.logKey, write.key, replaced);
    });
  }

  #prepare(entry: StoreEntry): PreparedWrite {
    const { key, revision, bytes } = entry;
    const dbKey = objectKey(key);
    const record = bytes === null ? undefined : encodeObject(this.#codec, dbKey, { key, revision, bytes });
    return { key, objectKey: dbKey, logKey: logKey(revision), record };
  }

  #reencryptRecord(key: Buffer, value: Buffer): boolean {
    if (key[0] === OBJECT) {
      if (!needsReencryption(this.#codec, key, value)) return false;
      void this.#database.put(key, encodeObject(this.#codec, key, decodeObject(this.#codec, key, value)));
      return true;
    }
    const log = splitLog(key, value);
    const dbKey = objectKey(log.key);
    if (log.replaced === undefined || !needsReencryption(this.#codec, dbKey, log.replaced)) return false;
    const replaced = encodeObject(this.#codec, dbKey, decodeObject(this.#codec, dbKey, log.replaced));
    void this.#database.put(key, encodeLog(key, log.key, replaced));
    return true;
  }

  /** A damaged key must not make a record disappear: nothing may exist outside the tables, or next to the state record. */
  #checkTables(): void {
    const ranges = [
      { end: Buffer.from([LOG]) },
      { start: Buffer.from([META]), end: STATE_KEY },
      { start: Buffer.concat([STATE_KEY, Buffer.from([0])]), end: Buffer.from([OBJECT]) },
      { start: Buffer.from([OBJECT + 1]) },
    ];
    for (const range of ranges) for (const key of this.#database.getKeys({ ...range, limit: 1 })) throw damaged(key);
  }

  #state(): StoreState {
    return decodeState(this.#database.getBinary(STATE_KEY));
  }

  #recordsAfter(revision: number): UndoRecord[] {
    const { compacted } = this.#state();
    if (revision < compacted) throw new CompactedError(compacted);
    const out: UndoRecord[] = [];
    for (const { key, value } of recordsOf(this.#database, LOG, { start: logKey(revision + 1) })) {
      out.push(decodeLog(this.#codec, key, value));
    }
    return out.reverse();
  }

  #requireWritable(): void {
    if (this.#closed) throw closedError();
    if (this.#broken !== undefined) throw this.#broken;
  }

  #predecessorFailed(onDisk: number): StoreError {
    if (this.#failure !== undefined) return this.#failure;
    this.#broken = new StoreError(
      `another process has written to the data directory (its revision is ${onDisk})`,
      "Stop the other process, then restart this one; writes are refused until then.",
    );
    return this.#broken;
  }

  #failed(error: unknown, revision: number): StoreError {
    const known = error instanceof StoreError ? error : writeError(error);
    const failure = this.#files.reserve?.explain(known) ?? known;
    this.#failure ??= failure;
    // Reported as failed but on disk: the flush failed, so the state after a crash is unknown.
    if (this.#state().revision >= revision) {
      this.#broken ??= new StoreError(
        `${failure.message}; the newest writes may or may not be saved`,
        `${failure.cure} Then restart: writes are refused until then.`,
        { cause: failure },
      );
    }
    return failure;
  }

  /** Once no write in flight can depend on a failed commit, writing continues from what is on disk. */
  #settled(): void {
    this.#inFlight--;
    if (this.#inFlight > 0 || this.#failure === undefined) return;
    this.#failure = undefined;
    this.#issued = undefined;
  }
}

function closedError(): StoreError {
  return new StoreError("the store is closed", "Open it again with openLmdbStore().");
}
