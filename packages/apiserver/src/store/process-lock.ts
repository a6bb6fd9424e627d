import { linkSync, readFileSync, realpathSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bootId, isRunning, processIdentity } from "@capstan/os";
import { StoreError } from "./store.ts";

interface Holder {
  pid: number;
  /** Start time of that process as the kernel counts it; empty where there is no /proc. */
  started: string;
  /** Boot of the machine: after a reboot no holder is alive. */
  boot: string;
}

/** Directories locked by this process, which its process id cannot distinguish from a stale lock. */
const heldHere = new Set<string>();

/** Locks the data directory for this process, or throws with the holder. The returned function releases it. */
export function lockDirectory(directory: string): () => void {
  const place = realpathSync(directory);
  const path = join(place, "lock");
  const mine = holderNow();
  if (heldHere.has(place)) throw heldBy(directory, mine);
  // Written to a draft and linked into place, so that no process ever reads a partial lock.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(mine)}\n`, { mode: 0o600 });
  try {
    takeLock(directory, path, draft);
  } finally {
    unlinkSync(draft);
  }
  heldHere.add(place);
  return () => {
    heldHere.delete(place);
    unlinkIfThere(path);
  };
}

function takeLock(directory: string, path: string, draft: string): void {
  for (let attempt = 0; ; attempt++) {
    try {
      linkSync(draft, path);
      return;
    } catch (error) {
      if (!isCode(error, "EEXIST")) throw error;
    }
    const text = readIfThere(path);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (attempt > 3 || (holder !== undefined && isAlive(holder))) throw heldBy(directory, holder);
    removeStale(path, draft, text);
  }
}

/** Moves the stale lock away; if another process was faster and its lock was moved, puts it back. */
function removeStale(path: string, draft: string, text: string): void {
  const aside = `${draft}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (isCode(error, "ENOENT")) return;
    throw error;
  }
  if (readIfThere(aside) !== text) {
    try {
      linkSync(aside, path);
    } catch (error) {
      if (!isCode(error, "EEXIST")) throw error;
    }
  }
  unlinkIfThere(aside);
}

/** This process, in the format that locks have had from the first version on. */
function holderNow(): Holder {
  const { startTime = "", bootId: boot = "" } = processIdentity(process.pid) ?? {};
  return { pid: process.pid, started: String(startTime), boot };
}

function isAlive({ pid, started, boot }: Holder): boolean {
  if (pid === process.pid || boot !== (bootId() ?? "")) return false;
  return isRunning({ pid, ...(started === "" ? {} : { startTime: Number(started) }) });
}

function heldBy(directory: string, holder: Holder | undefined): StoreError {
  const who = holder === undefined ? "another process" : `process ${holder.pid}`;
  return new StoreError(
    `the data directory ${directory} is in use by ${who}`,
    `Stop that process first, or start with another data directory. If it is certain that nothing uses it, remove ${join(directory, "lock")}.`,
  );
}

function parseHolder(text: string): Holder | undefined {
  try {
    const value = JSON.parse(text) as Partial<Holder>;
    return { pid: Number(value.pid), started: String(value.started), boot: String(value.boot) };
  } catch {
    return undefined;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
