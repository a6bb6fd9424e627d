import { readFile, rm } from "node:fs/promises";
import { type ProcessIdentity, writeFileAtomic } from "@capstan/os";
import type { Program } from "../types.ts";

/** What survives the manager: enough to know whether a process still is what is wanted. Written before the process is started. */
export interface StartRecord {
  /** Of the description the process was started with. */
  hash: string;
  /** Of the contents of its files, those included that need no restart. */
  files?: string;
  restarts: number;
  /** The description itself, without the contents of secret files: a new manager supervises before it is asked to. */
  program: Omit<Program, "secretFiles">;
}

/** With the process itself, once there is one. */
export interface ProcessRecord extends StartRecord, ProcessIdentity {}

export async function readRecord(path: string): Promise<(StartRecord & Partial<ProcessRecord>) | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as StartRecord & Partial<ProcessRecord>;
  } catch {
    return undefined;
  }
}

/** Replaces the record in one step, so that a reader never sees half of it. */
export async function writeRecord(path: string, record: StartRecord | ProcessRecord): Promise<void> {
  await writeFileAtomic(path, JSON.stringify(record));
}

export async function removeRecord(path: string): Promise<void> {
  await rm(path, { force: true });
}
