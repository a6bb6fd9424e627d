import { join } from "node:path";
import {
  databaseFolder,
  ensureDirectory,
  FORMAT,
  type Manifest,
  removeFolder,
  syncPath,
  writeManifest,
} from "./data-directory.ts";
import { openDatabase, transact } from "./lmdb-database.ts";
import { StoreError } from "./store.ts";

/** One database record as it is on disk. */
export interface RawRecord {
  key: Buffer;
  value: Buffer;
}

/** The step from format `from` to the next one: a pure function over all records in key order. */
export interface Migration {
  from: number;
  convert(records: Iterable<RawRecord>): Iterable<RawRecord>;
}

const CHUNK = 500;

/**
 * Brings the data of an older format to the current one in a folder of its own and then makes that folder the valid one in one
 * step. The old folder is never written to and stays as the backup; a kill at any point leaves either the old or the new state.
 */
export async function migrate(
  directory: string,
  manifest: Manifest,
  migrations: readonly Migration[],
): Promise<string> {
  const old = join(directory, manifest.database);
  const folder = join(directory, databaseFolder(FORMAT));
  await removeFolder(folder);
  await ensureDirectory(folder);
  const source = await openDatabase(old);
  const target = await openDatabase(folder);
  try {
    const records = stepsFrom(manifest.format, migrations).reduce<Iterable<RawRecord>>(
      (input, step) => step.convert(input),
      source.getRange().map(({ key, value }) => ({ key, value })),
    );
    let chunk: RawRecord[] = [];
    const flush = async (): Promise<void> => {
      const records = chunk;
      chunk = [];
      await transact(target, () => {
        for (const { key, value } of records) void target.put(key, value);
      });
    };
    for (const record of records) {
      chunk.push(record);
      if (chunk.length >= CHUNK) await flush();
    }
    await flush();
  } finally {
    await source.close();
    await target.close();
  }
  await syncPath(join(folder, "data.mdb"));
  await writeManifest(directory, { format: FORMAT, database: databaseFolder(FORMAT) });
  return old;
}

function stepsFrom(format: number, migrations: readonly Migration[]): Migration[] {
  const steps: Migration[] = [];
  for (let from = format; from < FORMAT; from++) {
    const step = migrations.find((migration) => migration.from === from);
    if (step === undefined) {
      throw new StoreError(
        `data of format ${format} cannot be migrated by this version`,
        "Start an older version that knows this format first, then this one.",
      );
    }
    steps.push(step);
  }
  return steps;
}
