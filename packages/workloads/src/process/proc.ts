import { readFile } from "node:fs/promises";

/**
 * When a process started, in clock ticks since boot, or undefined when there is no such process. Together with the pid this names
 * a process for good: pids are used again, the pair is not.
 */
export function processStartTime(pid: number): Promise<number | undefined> {
  return statField(pid, 19);
}

/** The process group of a living process. */
export function processGroup(pid: number): Promise<number | undefined> {
  return statField(pid, 2);
}

/** A number of `/proc/PID/stat`, counted from the state of the process; undefined when it has ended. */
async function statField(pid: number, index: number): Promise<number | undefined> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The command in parentheses may itself contain spaces and parentheses: fields are counted after the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  const value = Number(fields[index]);
  return Number.isFinite(value) ? value : undefined;
}

/** Signals the process group of `pid`, if that is still the same process. */
export async function signalProcess(pid: number, startTime: number, signal: NodeJS.Signals): Promise<boolean> {
  if ((await processStartTime(pid)) !== startTime) return false;
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}
