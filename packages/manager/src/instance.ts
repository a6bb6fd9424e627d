import { mkdir, open, readFile, rm } from "node:fs/promises";
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
  /** Absolute paths of the modules that its providers from outside the tree came from. */
  providerFiles?: string[];
}

const FILE = "instance.json";
/** Permission bits that let the group or everybody write a file. */
const OTHERS_WRITE = 0o022;

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

/** Returns the provider modules of the running instance; throws when another user may have named them, whose code must not run here. */
export async function readProviderFiles(dataDir: string): Promise<readonly string[]> {
  const { providerFiles = [] } = (await readInstance(dataDir)) ?? {};
  if (providerFiles.length === 0) return [];
  const path = join(dataDir, FILE);
  const file = await open(path);
  try {
    const { uid, mode } = await file.stat();
    const own = process.getuid?.() ?? uid;
    const record = JSON.parse(await file.readFile("utf8")) as InstanceRecord;
    // The file that was checked is the one that counts: another one may have taken its place since.
    if ((uid === own || uid === 0) && (mode & OTHERS_WRITE) === 0) return record.providerFiles ?? [];
  } finally {
    await file.close();
  }
  throw new Error(`${path} belongs to another user, or others may write it: its providers are not loaded`);
}

/** Deletes the record of the instance, when it stops. */
export async function removeInstance(dataDir: string): Promise<void> {
  await rm(join(dataDir, FILE), { force: true });
}

/** Sends SIGTERM to an instance. Returns false when it is not running any more; a later process with its pid is left alone. */
export function stopInstance(record: InstanceRecord): boolean {
  return signalProcess(record, "SIGTERM");
}
