import { chmod, lchown, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Takes the ownership of a folder tree from a user, so that root can work in it safely. Otherwise the user's processes could replace a
 * folder by a link meanwhile and make root access other files. Each folder is taken over before it is read. No effect unless run as root.
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

/** Gives a folder that root created or copied to a user, contents first; until then the folder is closed to the user. */
export async function giveAll(dir: string, uid: number): Promise<void> {
  if ((await lstat(dir)).uid === uid) return;
  await reclaim(dir);
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  for (const entry of entries.reverse()) await lchown(join(entry.parentPath, entry.name), uid, uid);
  await lchown(dir, uid, uid);
}
