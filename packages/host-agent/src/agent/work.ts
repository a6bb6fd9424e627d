import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { killGroup } from "../execute/run-command.ts";
import type { StepReport } from "../execute/steps.ts";

/** A process that can be told from a later one with the same number. */
export interface ProcessId {
  pid: number;
  /** When it started, in the kernel's own count since the boot. */
  start: string;
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
  writeFileSync(`${file}.new`, JSON.stringify(work), { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/** Ends the command that an agent which was killed has left running. */
export function endLeftCommand(work: Work): void {
  if (work.command !== undefined && isAlive(work.command)) killGroup(work.command.pid);
}

export function processId(pid: number): ProcessId {
  return { pid, start: startOf(pid) };
}

export function isAlive({ pid, start }: ProcessId): boolean {
  const now = startOf(pid);
  return now !== "" && now === start;
}

/** Field 22 of the process's line; its name, field 2, may hold anything. Empty when there is no such process, or only its remains. */
function startOf(pid: number): string {
  try {
    const fields = (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? "").split(" ");
    return fields[0] === "Z" ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}
