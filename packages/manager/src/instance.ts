import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isRunning, type ProcessIdentity, signalProcess, writeFileAtomic } from "@capstan/os";

/** Describes a running standalone instance in a file of its data directory. */
export interface InstanceRecord extends ProcessIdentity {
  server: string;
  kubeconfig: string;
  startedAt: string;
  version: string;
  /** Address of the dashboard, if it is served. */
  dashboard?: string;
}

const FILE = "instance.json";

/** Name of the kubeconfig context extension that holds the data directory of the instance behind it. */
export const INSTANCE_EXTENSION = "capstan.dev/instance";

/** Records the running instance in its data directory. */
export async function writeInstance(dataDir: string, record: InstanceRecord): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFileAtomic(join(dataDir, FILE), JSON.stringify(record, null, 2));
}

/** Returns the instance that is running on a data directory; undefined when there is none. */
export async function readInstance(dataDir: string): Promise<InstanceRecord | undefined> {
  let record: InstanceRecord;
  try {
    record = JSON.parse(await readFile(join(dataDir, FILE), "utf8")) as InstanceRecord;
  } catch {
    return undefined;
  }
  return isRunning(record) ? record : undefined;
}

/** Deletes the record of the instance, when it stops. */
export async function removeInstance(dataDir: string): Promise<void> {
  await rm(join(dataDir, FILE), { force: true });
}

/** Sends SIGTERM to an instance. Returns false when it is not running any more; a later process with its pid is left alone. */
export function stopInstance(record: InstanceRecord): boolean {
  return signalProcess(record, "SIGTERM");
}
