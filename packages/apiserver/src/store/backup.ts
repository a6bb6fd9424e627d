import { existsSync } from "node:fs";
import { chmod, copyFile, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory } from "@capstan/os";
import {
  databaseFolder,
  ensureDirectory,
  FORMAT,
  readManifest,
  removeFolder,
  syncPath,
  writeManifest,
} from "./data-directory.ts";
import type { Database } from "./lmdb-database.ts";
import { checkLmdbFile } from "./lmdb-file.ts";
import { StoreError } from "./store.ts";

/** Writes a consistent copy of a running database as a data directory of its own; it appears complete or not at all. */
export async function backupDatabase(database: Database, path: string): Promise<void> {
  if (existsSync(path)) {
    throw new StoreError(
      `${path} already exists`,
      "Specify a path that does not exist, so that no backup is overwritten.",
    );
  }
  const draft = `${path}.partial`;
  await removeFolder(draft);
  const folder = join(draft, databaseFolder(FORMAT));
  await ensureDirectory(folder);
  // Compacting leaves out free pages, and with them old versions of what has been deleted or encrypted since.
  await database.backup(folder, true);
  await chmod(join(folder, "data.mdb"), 0o600);
  await syncPath(join(folder, "data.mdb"));
  await writeManifest(draft, { format: FORMAT, database: databaseFolder(FORMAT) });
  await rename(draft, path);
  await syncDirectory(dirname(path));
}

/** Fills an empty or missing data directory from a backup, after checking the backup. */
export async function restoreBackup(backup: string, directory: string): Promise<void> {
  const manifest = await readManifest(backup);
  if (manifest === undefined) {
    throw new StoreError(
      `${backup} is not a backup`,
      "Specify the directory that a backup wrote; it contains a file store.json.",
    );
  }
  if (existsSync(directory) && (await readdir(directory)).length > 0) {
    throw new StoreError(
      `${directory} is not empty`,
      "Restore into an empty or new directory; move the old data away first if it is no longer needed.",
    );
  }
  const source = join(backup, manifest.database, "data.mdb");
  await checkLmdbFile(source);
  const folder = join(directory, manifest.database);
  await ensureDirectory(folder);
  await copyFile(source, join(folder, "data.mdb"));
  await syncPath(join(folder, "data.mdb"));
  // Last: without it the directory is no store, so an interrupted restore is not mistaken for one.
  await writeManifest(directory, manifest);
}
