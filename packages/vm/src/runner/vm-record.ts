import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "@capstan/apimachinery";
import { type ProcessIdentity, writeFileAtomic } from "@capstan/os";
import type { StoredImage } from "../images/image-source.ts";
import type { VmOrder } from "./vm-order.ts";
import type { VmReason } from "./vm-status.ts";

/** What is stored of a machine, so that a later manager finds it again. It holds no secrets. */
export interface VmRecord {
  order: VmOrder;
  /** The image that its first disk is based on; fixed once the disks exist. */
  image?: StoredImage | undefined;
  /** The file of the seed is in place. */
  seeded?: { firmwareName?: string | undefined } | undefined;
  /** Disks and seed are complete. */
  prepared?: boolean | undefined;
  accelerator?: "kvm" | "tcg" | undefined;
  acceleratorMessage?: string | undefined;
  /** Of the last start. Written before QEMU starts, so that a process without a record can be found. */
  args?: string[] | undefined;
  process?: ProcessIdentity | undefined;
  startedAtMs?: number | undefined;
  bootId?: string | undefined;
  restarts: number;
  /** When QEMU crashed and restarted lately. */
  crashes: number[];
  restartTimes: number[];
  /** A panic resets the machine once. */
  panicked?: boolean | undefined;
  /** The shutdown that was requested. */
  stop?: { atMs: number; graceMs: number } | undefined;
  /** It stays off. */
  ended?: { phase: "terminated" | "failed"; reason: VmReason; message: string } | undefined;
}

/** The record of a machine that was never started. */
export function newRecord(order: VmOrder): VmRecord {
  return { order, restarts: 0, crashes: [], restartTimes: [] };
}

const fileOf = (folder: string): string => join(folder, "machine.json");

/** Reads the record of a machine; undefined when there is none. Throws when it cannot be read, or is not a record. */
export async function readVmRecord(folder: string): Promise<VmRecord | undefined> {
  const file = fileOf(folder);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is not JSON; restore it from a backup`, { cause: error });
  }
  if (isObject(record) && isObject(record["order"])) return record as unknown as VmRecord;
  throw new Error(`${file} is not the record of a machine; restore it from a backup`);
}

/** Replaces the record of a machine. */
export async function writeVmRecord(folder: string, record: VmRecord): Promise<void> {
  await writeFileAtomic(fileOf(folder), JSON.stringify(record));
}
