import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type { RangeOptions, RootDatabase } from "lmdb";
import { checkLmdbFile } from "./lmdb-file.ts";
import { StoreError } from "./store.ts";
import { commitFailure, writeError } from "./write-error.ts";

/** Ordered bytes on disk. Writes only by awaited transaction(): the library's synchronous writes are not durable. */
export type Database = RootDatabase<Buffer, Buffer>;

/** What a store needs of a database: all of one, or a part of one that others share. */
export type Records = Pick<Database, "getBinary" | "put" | "remove" | "transaction"> & {
  getKeys(range: RangeOptions): Iterable<Buffer>;
  getRange(range: RangeOptions): Iterable<{ key: Buffer; value: Buffer }>;
};

/**
 * Opens the database in `folder`. A damaged file could take the process down once it is mapped into memory, so it is checked
 * first by plain reads. One key space without named databases, because opening one of those is a synchronous write.
 */
export async function openDatabase(folder: string): Promise<Database> {
  const file = join(folder, "data.mdb");
  if (existsSync(file)) await checkLmdbFile(file);
  // Loaded here and not at the top: servers in memory never need the native library.
  const { open } = await import("lmdb");
  try {
    const database = open<Buffer, Buffer>({
      path: folder,
      encoding: "binary",
      keyEncoding: "binary",
      cache: false,
      // Plain LMDB commits: data flushed, then the root that points to it. Overlapping them gains next to nothing here.
      overlappingSync: false,
      // The library's batching by event turn leaves a promise unhandled when a commit fails, which would end the process.
      eventTurnBatching: false,
    });
    await chmod(file, 0o600);
    return database;
  } catch (error) {
    throw new StoreError(
      `cannot open the database in ${folder}: ${error instanceof Error ? error.message : String(error)}`,
      "Check that the folder is on a local disk and that this user may read and write it.",
      { cause: error },
    );
  }
}

/** Runs `action` in a transaction and resolves once it is on disk; a failure has a message for users. */
export async function transact<T>(database: Pick<Records, "transaction">, action: () => T): Promise<T> {
  try {
    return await database.transaction(action);
  } catch (error) {
    throw error instanceof StoreError ? error : writeError(await commitFailure(error));
  }
}

/** All records whose key starts with byte `table`, in key order, as copies. */
export function* recordsOf(
  database: Pick<Records, "getRange">,
  table: number,
  options: { start?: Buffer; reverse?: boolean } = {},
): Generator<{ key: Buffer; value: Buffer }> {
  const low = Buffer.from([table]);
  const high = Buffer.from([table + 1]);
  const range =
    options.reverse === true
      ? { start: high, end: options.start ?? low, reverse: true }
      : { start: options.start ?? low, end: high };
  for (const { key, value } of database.getRange(range)) yield { key, value };
}
