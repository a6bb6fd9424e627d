import { copyFile, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory, writeFileAtomic } from "@capstan/os";
import { type Backup, type BackupStore, backupTimeMs, DESCRIPTION, SNAPSHOT } from "./backup-store.ts";

/** Stores backups as folders below a local directory: `NAMESPACE/NAME/BACKUP/`. */
export class DirectoryStore implements BackupStore {
  readonly location: string;

  constructor(dir: string) {
    this.location = dir;
  }

  async list(owner: string): Promise<Backup[]> {
    const backups: Backup[] = [];
    for (const name of await readdir(join(this.location, owner)).catch(() => [])) {
      const timeMs = backupTimeMs(name);
      if (timeMs === undefined) continue;
      const sizeOf = async (file: string): Promise<number> =>
        (await stat(join(this.location, owner, name, file)).catch(() => undefined))?.size ?? 0;
      const size = await sizeOf(SNAPSHOT);
      // One that was copied only in part does not hide the others.
      if (size > 0 && (await sizeOf(DESCRIPTION)) > 0) backups.push({ name, timeMs, sizeBytes: size });
    }
    return backups.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async save(owner: string, name: string, snapshotFile: string, description: string): Promise<void> {
    const dir = join(this.location, owner);
    const partial = join(dir, `.partial-${name}`);
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true, mode: 0o700 });
    try {
      await copyFile(snapshotFile, join(partial, SNAPSHOT));
      await sync(join(partial, SNAPSHOT));
      await writeFileAtomic(join(partial, DESCRIPTION), description);
      // Two backups within one second have the same name: the later one is kept.
      await rm(join(dir, name), { recursive: true, force: true });
      await rename(partial, join(dir, name));
      await syncDirectory(dir);
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  }

  async description(owner: string, name: string): Promise<string> {
    return await readFile(join(this.location, owner, name, DESCRIPTION), "utf8");
  }

  snapshot(owner: string, name: string): Promise<{ file: string; release(): Promise<void> }> {
    return Promise.resolve({
      file: join(this.location, owner, name, SNAPSHOT),
      release: () => Promise.resolve(),
    });
  }

  async delete(owner: string, name: string): Promise<void> {
    await rm(join(this.location, owner, name), { recursive: true, force: true });
  }
}

/** Flushes a file to disk, so that the backup survives a power failure. */
async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
