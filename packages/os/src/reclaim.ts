import { chmod, lchown, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Takes a folder away from the user that it belongs to, so that this process can work in it as root. Otherwise what is left of the
 * user's processes could put a link in the place of a folder meanwhile, and root would read, change or delete files of others.
 * A folder is taken before anything in it is looked at: from then on its entries stay what they are. Nothing changes unless root runs it.
 */
export async function reclaim(dir: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const found = await lstat(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found?.isDirectory() !== true) return;
  await lchown(dir, 0, 0);
  await chmod(dir, 0o700);
  for (const name of await readdir(dir)) await reclaim(join(dir, name));
}

/** Removes a folder that a program's user may have written to. */
export async function removeReclaimed(dir: string): Promise<void> {
  await reclaim(dir);
  await rm(dir, { recursive: true, force: true });
}

/** Gives a folder that root made or copied to a user. What is in a folder comes before the folder, which is closed to the user until then. */
export async function giveAll(dir: string, uid: number): Promise<void> {
  if ((await lstat(dir)).uid === uid) return;
  await reclaim(dir);
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  for (const entry of entries.reverse()) await lchown(join(entry.parentPath, entry.name), uid, uid);
  await lchown(dir, uid, uid);
}
