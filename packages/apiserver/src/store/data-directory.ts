import { existsSync } from "node:fs";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@capstan/os";
import { StoreError } from "./store.ts";

/** The format this version writes. */
export const FORMAT = 1;

const MANIFEST = "store.json";

/** What `store.json` in a data directory says: which format, and in which folder the database of that format is. */
export interface Manifest {
  format: number;
  database: string;
}

/** Folder of a format's database. Formats have folders of their own, so that a migration never touches what it reads. */
export function databaseFolder(format: number): string {
  return `db-${format}`;
}

/** Reads the manifest; undefined for a directory without data. */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  let text: string;
  try {
    text = await readFile(join(directory, MANIFEST), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return withoutManifest(directory);
    throw error;
  }
  const manifest = parseManifest(text);
  if (manifest === undefined) {
    throw new StoreError(
      `${join(directory, MANIFEST)} cannot be read`,
      `It must have the form ${JSON.stringify({ format: FORMAT, database: databaseFolder(FORMAT) })}; restore a backup if in doubt.`,
    );
  }
  return manifest;
}

/** Replaces the manifest atomically; the result survives a crash. */
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await writeFileAtomic(join(directory, MANIFEST), `${JSON.stringify(manifest)}\n`);
}

/** Creates the directory if needed, readable by its owner alone: it holds secrets. */
export async function ensureDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
}

/** Flushes a file to disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes a folder with its content, if it exists. */
export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** The error for data of a later version. */
export function newerFormat(directory: string, format: number): StoreError {
  return new StoreError(
    `the data in ${directory} has format ${format}, this version knows up to ${FORMAT}`,
    "Start the newer version that wrote it, or restore a backup made by this version into an empty directory.",
  );
}

/** The manifest is written before the first commit, so without one there is no data, unless it was removed. */
function withoutManifest(directory: string): Manifest | undefined {
  const database = databaseFolder(FORMAT);
  return existsSync(join(directory, database, "data.mdb")) ? { format: FORMAT, database } : undefined;
}

function parseManifest(text: string): Manifest | undefined {
  try {
    const value = JSON.parse(text) as Partial<Manifest> | null;
    const { format, database } = value ?? {};
    if (!Number.isInteger(format) || format === undefined || typeof database !== "string") return undefined;
    return /^db-\d+$/.test(database) ? { format, database } : undefined;
  } catch {
    return undefined;
  }
}
