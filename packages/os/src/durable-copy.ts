import { closeSync, existsSync, fsyncSync, openSync, writeFileSync } from "node:fs";
import * as promises from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AtomicFs, syncDirectory } from "./atomic-file.ts";

/** Flushes an open file or directory; tests record what is flushed. */
export type Flush = (descriptor: number, path: string) => void;

/**
 * Copies a file or folder to a path that does not exist, and returns when the copy survives a power failure. `links: "keep"` copies links
 * as links, the only safe way for root to copy what another user wrote.
 */
export async function copyDurable(
  from: string,
  to: string,
  { links = "follow", fs = promises }: { links?: "follow" | "keep"; fs?: Pick<AtomicFs, "open"> } = {},
): Promise<void> {
  const keep = links === "keep";
  await promises.cp(from, to, {
    recursive: true,
    errorOnExist: true,
    force: false,
    dereference: !keep,
    verbatimSymlinks: keep,
  });
  await syncTree(to, fs);
  await syncDirectory(dirname(to), fs);
}

/** Appends to a journal that only its owner can read; returns when the data survives a power failure. */
export function appendFileDurableSync(path: string, text: string, flush: Flush = fsyncSync): void {
  const isNew = !existsSync(path);
  const file = openSync(path, "a", 0o600);
  try {
    writeFileSync(file, text);
    flush(file, path);
  } finally {
    closeSync(file);
  }
  if (!isNew) return;
  const directory = openSync(dirname(path), "r");
  try {
    flush(directory, dirname(path));
  } finally {
    closeSync(directory);
  }
}

async function syncTree(path: string, fs: Pick<AtomicFs, "open">): Promise<void> {
  const found = await promises.lstat(path);
  if (found.isSymbolicLink()) return;
  if (found.isDirectory()) for (const name of await promises.readdir(path)) await syncTree(join(path, name), fs);
  // Opens, flushes and closes a file just as well.
  await syncDirectory(path, fs);
}
