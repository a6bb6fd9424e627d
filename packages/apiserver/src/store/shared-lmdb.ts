import { createHash } from "node:crypto";
import { systemRandom } from "@capstan/apimachinery";
import { readTemplate, type Template } from "./copies.ts";
import { CopyStore, type Templates } from "./copy-store.ts";
import { ensureDirectory } from "./data-directory.ts";
import type { DiskReserve } from "./disk-reserve.ts";
import { type Database, openDatabase, type Records, recordsOf, transact } from "./lmdb-database.ts";
import { DurableStore, type LmdbStoreOptions, prepareData } from "./lmdb-store.ts";
import { partOfDatabase } from "./part-of-database.ts";
import { lockDirectory } from "./process-lock.ts";
import { type Codec, DAMAGE_CURE } from "./records.ts";
import { type Store, StoreError } from "./store.ts";
import { openError } from "./write-error.ts";

/** Stores of many API servers in one database: one file, and one flush for all that is written at the same time. */
export interface SharedStores {
  /** The store of `name`. Data of another identity under this name is removed first. */
  open(name: string, identity: string): Promise<Store>;
  /** Removes all data of `name`. Safe to repeat, and to be interrupted. */
  remove(name: string): Promise<void>;
  /** Closes the files; the stores must be closed before. */
  close(): Promise<void>;
}

/** First bytes of keys: what belongs to one name, and what all share. */
const PARTS = 0x10;
const TEMPLATES = 0x11;
/** Further copies are written as they are. */
const MAX_TEMPLATES = 1_000;
/** Names may be long, keys may not. */
const NAME_BYTES = 16;
/** Terminates a prefix: keys of the part itself sort before its records. */
const OWNER = 0;
const RECORDS = 1;
/** Records removed per transaction: other writers must get their turn. */
const CHUNK = 500;

/** Opens or creates the shared database in `directory`, which belongs to this process until close(). */
export async function openSharedStores(directory: string, options: LmdbStoreOptions = {}): Promise<SharedStores> {
  let unlock: () => void = () => {};
  try {
    await ensureDirectory(directory);
    unlock = lockDirectory(directory);
    const database = await openDatabase(await prepareData(directory, options));
    const codec: Codec = { keys: options.encryptionKeys ?? [], random: options.random ?? systemRandom };
    return new LmdbShared(database, codec, { reserve: options.reserve, unlock });
  } catch (error) {
    unlock();
    throw error instanceof StoreError ? error : openError(directory, error);
  }
}

class LmdbShared implements SharedStores, Templates {
  readonly #database: Database;
  readonly #templates = new Map<string, Template>();
  readonly #keeping = new Map<string, Promise<boolean>>();
  readonly #codec: Codec;
  readonly #reserve: DiskReserve | undefined;
  readonly #unlock: () => void;

  constructor(
    database: Database,
    codec: Codec,
    { reserve, unlock }: { reserve: DiskReserve | undefined; unlock(): void },
  ) {
    this.#database = database;
    this.#codec = codec;
    this.#reserve = reserve;
    this.#unlock = unlock;
    for (const { key, value } of recordsOf(database, TEMPLATES)) {
      const id = key.toString("hex", 1);
      const template = readTemplate(id, value);
      if (template === undefined) throw new StoreError(`the template ${id} is damaged`, DAMAGE_CURE);
      this.#templates.set(id, template);
    }
  }

  find(id: string): Template | undefined {
    return this.#templates.get(id);
  }

  has(id: string): boolean {
    return this.#templates.has(id);
  }

  async keep(template: Template): Promise<boolean> {
    const { id, bytes } = template;
    if (this.#templates.has(id)) return true;
    if (this.#templates.size + this.#keeping.size >= MAX_TEMPLATES) return false;
    let kept = this.#keeping.get(id);
    if (kept === undefined) {
      const key = Buffer.concat([Buffer.from([TEMPLATES]), Buffer.from(id, "hex")]);
      kept = this.#transact(() => void this.#database.put(key, bytes))
        .then(() => {
          this.#templates.set(id, template);
          return true;
        })
        .finally(() => this.#keeping.delete(id));
      this.#keeping.set(id, kept);
    }
    return await kept;
  }

  async open(name: string, identity: string): Promise<Store> {
    const owner = prefixOf(name, OWNER);
    const wanted = Buffer.from(identity);
    const found = this.#database.getBinary(owner);
    if (found !== undefined && !found.equals(wanted)) await this.remove(name);
    // On disk before any of its data: data without an owner would never be removed.
    if (found?.equals(wanted) !== true) await this.#transact(() => void this.#database.put(owner, wanted));
    const part = partOfDatabase(this.#database as Records, prefixOf(name, RECORDS));
    const store = new DurableStore(part, this.#codec, {
      reserve: this.#reserve,
      backup: () => Promise.reject(noBackup()),
      close: async () => {},
    });
    if (this.#codec.keys.length > 0) await store.reencrypt();
    return new CopyStore(store, this);
  }

  async remove(name: string): Promise<void> {
    const part = partOfDatabase(this.#database as Records, prefixOf(name, RECORDS));
    for (;;) {
      const keys = [...part.getKeys({ limit: CHUNK })];
      if (keys.length === 0) break;
      await this.#transact(() => {
        for (const key of keys) void part.remove(key);
      });
    }
    const owner = prefixOf(name, OWNER);
    if (this.#database.getBinary(owner) === undefined) return;
    await this.#transact(() => void this.#database.remove(owner));
  }

  /** One that finds the disk full is repeated with the reserve released: it may be a removal, and is small otherwise. */
  async #transact(action: () => void): Promise<void> {
    const reserve = this.#reserve;
    if (reserve === undefined) return await transact(this.#database, action);
    const hadReserve = reserve.kept;
    const explain = (error: unknown): never => {
      throw error instanceof StoreError ? reserve.explain(error) : error;
    };
    try {
      await transact(this.#database, action).catch(explain);
    } catch (error) {
      if (!hadReserve || reserve.kept) throw error;
      await transact(this.#database, action).catch(explain);
    }
  }

  async close(): Promise<void> {
    await this.#database.close();
    this.#unlock();
  }
}

function prefixOf(name: string, what: number): Buffer {
  const digest = createHash("sha256").update(name).digest().subarray(0, NAME_BYTES);
  return Buffer.concat([Buffer.from([PARTS]), digest, Buffer.from([what])]);
}

function noBackup(): StoreError {
  return new StoreError(
    "one of many stores in a database cannot be backed up by itself",
    "Copy its objects with kubectl, or stop the manager and copy the whole data directory.",
  );
}
