import { closeSync, fchmodSync, fchownSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import * as promises from "node:fs/promises";
import { dirname } from "node:path";
import { threadId } from "node:worker_threads";
import { processIdentity } from "./process-identity.ts";

/** Mode and owner that a file has from the moment it exists. */
export interface AtomicFileOptions {
  /** 0600 unless given. */
  mode?: number;
  owner?: { uid: number; gid: number };
}

/** The file system operations that atomic writes use; tests interrupt them between two steps. */
export type AtomicFs = Pick<typeof promises, "open" | "rename" | "rm">;

const DEFAULT_MODE = 0o600;

/**
 * Two writers of one path, in this process or another, must not share a draft. The pid alone would not distinguish them: in a container
 * the next process has the same one, and would find the draft that a killed one left.
 */
const { startTime = 0, bootId = "" } = processIdentity(process.pid) ?? {};
const writer = [process.pid, threadId, startTime, bootId.slice(0, 8)].join("-");
let drafts = 0;
function draftOf(path: string): string {
  drafts++;
  return `${path}.${writer}-${drafts}.new`;
}

/**
 * Replaces a file so that after a crash or a power failure it has either its old or its new content: the content is written to a draft
 * in the same directory and flushed, the draft is renamed, and the directory is flushed.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: AtomicFileOptions = {},
  fs: AtomicFs = promises,
): Promise<void> {
  const { mode = DEFAULT_MODE, owner } = options;
  const draft = draftOf(path);
  try {
    const file = await fs.open(draft, "wx", mode);
    try {
      await file.writeFile(content);
      if (owner !== undefined) await file.chown(owner.uid, owner.gid);
      // The umask does not apply here, unlike to the mode given to open.
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(draft, path);
  } catch (error) {
    await fs.rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path), fs);
}

/** Synchronous variant of `writeFileAtomic`. */
export function writeFileAtomicSync(path: string, content: string, options: AtomicFileOptions = {}): void {
  const { mode = DEFAULT_MODE, owner } = options;
  const draft = draftOf(path);
  try {
    const file = openSync(draft, "wx", mode);
    try {
      writeFileSync(file, content);
      if (owner !== undefined) fchownSync(file, owner.uid, owner.gid);
      fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  const directory = openSync(dirname(path), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Flushes the entries of a directory, so that a rename or a deletion in it survives a power failure. */
export async function syncDirectory(path: string, fs: Pick<AtomicFs, "open"> = promises): Promise<void> {
  const directory = await fs.open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
