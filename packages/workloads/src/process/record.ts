import { readFile, rm } from "node:fs/promises";
import { type ProcessIdentity, writeFileAtomic } from "@capstan/os";
import type { Program } from "../types.ts";

/** Describes a started program on disk, so that a restarted manager can adopt its process. Written before the process starts. */
export interface StartRecord {
  /** Of the description the process was started with. */
  hash: string;
  /** Of the contents of its files, those included that need no restart. */
  files?: string;
  restarts: number;
  /** The description itself, without the contents of secret files: a new manager supervises before the first reconcile. */
  program: Omit<Program, "secretFiles">;
}

/** A StartRecord with the identity of the process, once it has started. */
export interface ProcessRecord extends StartRecord, ProcessIdentity {}

/** Reads the record of a program; undefined when it is missing or unreadable. */
export async function readRecord(path: string): Promise<(StartRecord & Partial<ProcessRecord>) | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as StartRecord & Partial<ProcessRecord>;
  } catch {
    return undefined;
  }
}

/** Replaces the record atomically, so that a reader never sees a partial one. */
export async function writeRecord(path: string, record: StartRecord | ProcessRecord): Promise<void> {
  await writeFileAtomic(path, JSON.stringify(record));
}

/** Deletes the record of a program, if there is one. */
export async function removeRecord(path: string): Promise<void> {
  await rm(path, { force: true });
}
