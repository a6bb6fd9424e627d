import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isRunning, type ProcessIdentity, signalProcess, writeFileAtomic } from "@capstan/os";

/** What a running standalone instance tells about itself in its data directory. */
export interface InstanceRecord extends ProcessIdentity {
  server: string;
  kubeconfig: string;
  startedAt: string;
  version: string;
  /** Address of the dashboard, if it is served. */
  dashboard?: string;
}

const FILE = "instance.json";

/** Extension of a kubeconfig's context that names the data directory of the instance behind it. */
export const INSTANCE_EXTENSION = "capstan.dev/instance";

export async function writeInstance(dataDir: string, record: InstanceRecord): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFileAtomic(join(dataDir, FILE), JSON.stringify(record, null, 2));
}

/** The instance that runs on a data directory, or undefined when none does. */
export async function readInstance(dataDir: string): Promise<InstanceRecord | undefined> {
  let record: InstanceRecord;
  try {
    record = JSON.parse(await readFile(join(dataDir, FILE), "utf8")) as InstanceRecord;
  } catch {
    return undefined;
  }
  return isRunning(record) ? record : undefined;
}

export async function removeInstance(dataDir: string): Promise<void> {
  await rm(join(dataDir, FILE), { force: true });
}

/** Requests an instance to stop. Returns false when it no longer runs; a later process with its pid is left alone. */
export function stopInstance(record: InstanceRecord): boolean {
  return signalProcess(record, "SIGTERM");
}
