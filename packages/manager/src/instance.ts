import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What a running standalone instance tells about itself in its data directory. */
export interface InstanceRecord {
  pid: number;
  server: string;
  kubeconfig: string;
  startedAt: string;
  version: string;
  /** Address of the dashboard, if it is served. */
  dashboard?: string;
}

const FILE = "instance.json";

export async function writeInstance(dataDir: string, record: InstanceRecord): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, FILE);
  await writeFile(`${path}.new`, JSON.stringify(record, null, 2), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** The instance that runs on a data directory, or undefined when none does. */
export async function readInstance(dataDir: string): Promise<InstanceRecord | undefined> {
  let record: InstanceRecord;
  try {
    record = JSON.parse(await readFile(join(dataDir, FILE), "utf8")) as InstanceRecord;
  } catch {
    return undefined;
  }
  return isAlive(record.pid) ? record : undefined;
}

export async function removeInstance(dataDir: string): Promise<void> {
  await rm(join(dataDir, FILE), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
