import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isRunning, type ProcessIdentity, processIdentity, writeFileAtomicSync } from "@capstan/os";
import { killGroup } from "../execute/run-command.ts";
import type { StepReport } from "../execute/steps.ts";

/** Identifies a process in the agent's state files. */
export interface ProcessId {
  pid: number;
  /** When it started, in the kernel's own count since the boot. */
  start: string;
  /** Missing in what earlier agents wrote. */
  bootId?: string;
}

/** The ongoing or completed bootstrap of this host, stored so that it survives agent restarts and reboots. */
export interface Work {
  machineUID: string;
  phase: "Running" | "Succeeded";
  /** The command that ran last: it outlives an agent that is killed. */
  command?: ProcessId;
  /** Whether kubeadm has made a node of the host, so that only what follows it remains to be run. */
  joined?: true;
  steps?: StepReport[];
}

const fileIn = (stateDir: string): string => join(stateDir, "work.json");

/** Reads the bootstrap that has started on this host and has not been cleaned up since. */
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

/** Records a started or completed bootstrap; undefined records that the host is clean. */
export function writeWork(stateDir: string, work: Work | undefined): void {
  const file = fileIn(stateDir);
  if (work === undefined) return rmSync(file, { force: true });
  writeFileAtomicSync(file, JSON.stringify(work));
}

/** Kills the command that a killed agent left running. */
export function endLeftCommand(work: Work): void {
  if (work.command !== undefined && isAlive(work.command)) killGroup(work.command.pid);
}

/** Identifies a running process by pid, start time and boot ID, so that a reused pid is not mistaken for it. */
export function processId(pid: number): ProcessId {
  const { startTime = "", bootId } = processIdentity(pid) ?? {};
  return { pid, start: String(startTime), bootId };
}

/** Returns whether a recorded process is still running. */
export function isAlive(id: ProcessId): boolean {
  return id.start !== "" && isRunning(identityOf(id));
}

/** Converts a recorded process to the form that signalling needs. */
export function identityOf({ pid, start, bootId }: ProcessId): ProcessIdentity {
  return { pid, startTime: Number(start), bootId };
}
