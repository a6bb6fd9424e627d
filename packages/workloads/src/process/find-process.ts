import { constants } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { type Clock, sleep } from "@capstan/apimachinery";
import { isRunning, type ProcessIdentity, processGroup, processIdentity } from "@capstan/os";
import type { ProgramId } from "../types.ts";
import type { ProgramPaths } from "./layout.ts";
import { type ProcessRecord, readRecord, writeRecord } from "./record.ts";

/** File descriptor under which a program holds the write end of its pipe (`spawn-program.ts`). */
export const ALIVE_FD = 3;
/** A process that was forked but has not yet become the program is seen after this at the latest. */
const LOOK_AGAIN_MS = 20;
const LOOKS = 100;

/**
 * Finds the process of a program, even if the manager was killed before it recorded the pid: the pipe shows that there is one, and `/proc`
 * which one. It also finds an orphaned process that has no record at all.
 */
export async function findProcess(
  id: ProgramId,
  paths: ProgramPaths,
  clock: Clock,
): Promise<ProcessRecord | undefined> {
  const record = await readRecord(paths.record);
  if (record?.pid !== undefined && record.startTime !== undefined) {
    const found: ProcessRecord = { ...record, pid: record.pid };
    return isRunning(found) ? found : undefined;
  }
  for (let look = 0; await isHeld(paths.alive); look++) {
    const holder = await holderOf(paths.alive);
    if (holder !== undefined) {
      const unknown = { hash: "", restarts: 0, program: { id, command: "", args: [] } };
      const found: ProcessRecord = { ...(record ?? unknown), ...holder };
      // Without it the process is found this way again.
      await writeRecord(paths.record, found).catch(() => undefined);
      return found;
    }
    if (look >= LOOKS) throw new Error(`a process holds ${paths.alive} and cannot be found; terminate it manually`);
    await sleep(clock, LOOK_AGAIN_MS);
  }
  return undefined;
}

/** Whether any process has the write end of a named pipe open. */
async function isHeld(path: string): Promise<boolean> {
  let pipe: Awaited<ReturnType<typeof open>>;
  try {
    pipe = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  try {
    return (await pipe.read(Buffer.alloc(1), 0, 1, null)).bytesRead > 0;
  } catch (error) {
    // Nothing to read and no end of file: there is a writer.
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return true;
    throw error;
  } finally {
    await pipe.close();
  }
}

/** The leader of the process group that holds the pipe: programs may have children. */
async function holderOf(path: string): Promise<ProcessIdentity | undefined> {
  const pipe = await stat(path);
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const held = await stat(`/proc/${pid}/fd/${ALIVE_FD}`).catch(() => undefined);
    if (held?.ino !== pipe.ino || held.dev !== pipe.dev || processGroup(pid) !== pid) continue;
    const identity = processIdentity(pid);
    if (identity !== undefined) return identity;
  }
  return undefined;
}
