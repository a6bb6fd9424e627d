import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isRunning, type ProcessIdentity, processIdentity, writeFileAtomicSync } from "@capstan/os";
import { killGroup } from "../execute/run-command.ts";
import type { StepReport } from "../execute/steps.ts";

/** A process as agents write it down. */
export interface ProcessId {
  pid: number;
  /** When it started, in the kernel's own count since the boot. */
  start: string;
  /** Missing in what earlier agents wrote. */
  bootId?: string;
}

/** What the host is in the middle of, or has become: survives the agent and a reboot. */
export interface Work {
  machineUID: string;
  phase: "Running" | "Succeeded";
  /** The command that ran last: it outlives an agent that is killed. */
  command?: ProcessId;
  steps?: StepReport[];
}

const fileIn = (stateDir: string): string => join(stateDir, "work.json");

/** What was begun on this host and not cleaned up since. */
export function readWork(stateDir: string): Work | undefined {
  let text: string;
  try {
    text = readFileSync(fileIn(stateDir), "utf8");
  } catch {
    return undefined;
  }
  try {
    return JSON.parse(text) as Work;
  } catch {
    // Something was begun, or the file would not be there.
    return { machineUID: "", phase: "Running" };
  }
}

/** Notes what is begun or done; undefined: the host is clean. */
export function writeWork(stateDir: string, work: Work | undefined): void {
  const file = fileIn(stateDir);
  if (work === undefined) return rmSync(file, { force: true });
  writeFileAtomicSync(file, JSON.stringify(work));
}

/** Ends the command that an agent which was killed has left running. */
export function endLeftCommand(work: Work): void {
  if (work.command !== undefined && isAlive(work.command)) killGroup(work.command.pid);
}

export function processId(pid: number): ProcessId {
  const { startTime = "", bootId } = processIdentity(pid) ?? {};
  return { pid, start: String(startTime), ...(bootId === undefined ? {} : { bootId }) };
}

/** Whether a process runs that was written down. */
export function isAlive(id: ProcessId): boolean {
  return id.start !== "" && isRunning(identityOf(id));
}

/** A process that was written down, for signalling it. */
export function identityOf({ pid, start, bootId }: ProcessId): ProcessIdentity {
  return { pid, startTime: Number(start), ...(bootId === undefined ? {} : { bootId }) };
}
