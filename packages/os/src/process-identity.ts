import { readFileSync } from "node:fs";

/** Identifies one process uniquely by pid, start time and boot, because pids are reused and start times count from boot. */
export interface ProcessIdentity {
  pid: number;
  /** In clock ticks since boot. Missing where there is no /proc, and in records of earlier versions. */
  startTime?: number;
  /** Missing in records of earlier versions. */
  bootId?: string;
}

/** Returns the identity of the running process with this pid; undefined when there is none. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const stat = readStat(pid);
  if (stat === "ended") return undefined;
  if (stat === undefined) return canSignal(pid) ? { pid } : undefined;
  const boot = bootId();
  return { pid, startTime: stat.startTime, bootId: boot };
}

/** Returns whether a recorded process is still running, comparing start times to detect a reused pid. */
export function isRunning(recorded: ProcessIdentity): boolean {
  const now = processIdentity(recorded.pid);
  if (now === undefined) return false;
  return sameIfKnown(recorded.bootId, now.bootId) && sameIfKnown(recorded.startTime, now.startTime);
}

/** Signals a recorded process unless it has exited; a later process with its pid is left alone. Returns whether it was signalled. */
export function signalProcess(recorded: ProcessIdentity, signal: NodeJS.Signals): boolean {
  return isRunning(recorded) && kill(recorded.pid, signal);
}

/** Signals the process group that a recorded process leads, if it is still running. */
export function signalGroup(recorded: ProcessIdentity, signal: NodeJS.Signals): boolean {
  return recorded.pid > 1 && isRunning(recorded) && kill(-recorded.pid, signal);
}

/** Returns the process group of a running process. */
export function processGroup(pid: number): number | undefined {
  const stat = readStat(pid);
  return stat === undefined || stat === "ended" ? undefined : stat.group;
}

/** Identifies the current boot of the machine; undefined where the kernel does not report it. */
export function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}

function sameIfKnown<T>(recorded: T | undefined, now: T | undefined): boolean {
  return recorded === undefined || now === undefined || recorded === now;
}

/** Undefined when /proc does not show the process: it has exited, or belongs to another user on a machine that hides those. */
function readStat(pid: number): { group: number; startTime: number } | "ended" | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The command in parentheses may contain spaces and parentheses: fields are counted after the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return "ended";
  return { group: Number(fields[2]), startTime: Number(fields[19]) };
}

function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
