import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { EtcdEntry } from "./tenants.ts";

/** The first line of a file that holds one tenant's part of a shared etcd; a snapshot of a whole etcd begins otherwise. */
const HEADER = JSON.stringify({ format: "capstan-etcd-export/1" });
/** How many entries are handed over at a time. */
const ENTRIES = 100;

/** Writes entries to a file that only its owner can read, one per line and with keys relative to the tenant's prefix. */
export async function writeExport(file: string, pages: AsyncIterable<readonly EtcdEntry[]>): Promise<void> {
  const handle = await open(file, "w", 0o600);
  try {
    await handle.write(`${HEADER}\n`);
    for await (const entries of pages)
      if (entries.length > 0)
        await handle.write(entries.map(({ key, value }) => `${JSON.stringify([key, value])}\n`).join(""));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns whether a file is an export written by `writeExport`. */
export async function isExport(file: string): Promise<boolean> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, "r");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0);
    return buffer.subarray(0, bytesRead).toString("utf8") === HEADER;
  } finally {
    await handle?.close();
  }
}

/** Reads the entries of an export in batches. */
export async function* readExport(file: string): AsyncGenerator<EtcdEntry[]> {
  const lines = createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Number.POSITIVE_INFINITY });
  let entries: EtcdEntry[] = [];
  let first = true;
  for await (const line of lines) {
    if (first) {
      if (line !== HEADER) throw new Error(`${file} is not an export of a shared etcd`);
      first = false;
      continue;
    }
    const [key, value] = JSON.parse(line) as [string, string];
    entries.push({ key, value });
    if (entries.length === ENTRIES) {
      yield entries;
      entries = [];
    }
  }
  if (first) throw new Error(`${file} is empty`);
  if (entries.length > 0) yield entries;
}
