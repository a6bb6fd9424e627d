import { join } from "node:path";
import { restoreBackup } from "@capstan/apiserver";
import { readInstance } from "./instance.ts";
import { AlreadyRunningError } from "./standalone.ts";

/** Fills the store of a data directory from a backup; refuses while an instance is running on it and when it already has data. */
export async function restoreStandalone(backup: string, dataDir: string): Promise<void> {
  const running = await readInstance(dataDir);
  if (running !== undefined) throw new AlreadyRunningError(running.pid, running.server, dataDir);
  await restoreBackup(backup, join(dataDir, "store"));
}
