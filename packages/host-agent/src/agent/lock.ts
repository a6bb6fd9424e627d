import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { isAlive, type ProcessId, processId } from "./work.ts";

/**
 * Ensures that one agent runs per host with a lock file that names its process; the lock of a dead process is ignored. Returns a function
 * that releases the lock.
 */
export function lockHost(path: string): () => void {
  for (;;) {
    const holder = readHolder(path);
    if (holder !== undefined && isAlive(holder) && holder.pid !== process.pid)
      throw new Error(`another agent runs on this host (process ${holder.pid}): stop it first, or let it do the work`);
    if (holder !== undefined) rmSync(path, { force: true });
    else if (create(path)) return () => rmSync(path, { force: true });
  }
}

function readHolder(path: string): ProcessId | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
  try {
    return JSON.parse(text) as ProcessId;
  } catch {
    return { pid: 0, start: "" };
  }
}

/** Of two agents that start at the same time, only one creates the file. */
function create(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  writeSync(fd, JSON.stringify(processId(process.pid)));
  closeSync(fd);
  return true;
}
