import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeTree, TREE_INPUTS } from "@capstan/node-image";
import { cacheDir, mustRun } from "../../real-kubernetes/index.ts";

/** What makes one root file system differ from another. */
export interface RootfsOptions {
  /** Debian packages beyond what every node has, e.g. cloud-init. */
  readonly extraPackages?: readonly string[];
}

/**
 * The read-only root file system that all nodes share: Debian with systemd, containerd and runc, made once by debootstrap (about
 * a minute) and kept in the cache under a hash of everything that goes into it. Kubernetes itself is not in it, see Lab. With extra
 * packages it is a copy of the plain one into which apt installs them.
 */
export async function ensureRootfs(options: RootfsOptions = {}): Promise<string> {
  const plain = await once(TREE_INPUTS, (target) => makeTree(target, { mirror: process.env["CAPSTAN_DEBIAN_MIRROR"] }));
  const extra = [...(options.extraPackages ?? [])].toSorted();
  if (extra.length === 0) return plain;
  return await once([plain, extra], async (target) => {
    await mustRun("cp", ["--archive", "--reflink=auto", plain, target]);
    const inside = (...command: string[]): Promise<string> =>
      mustRun("chroot", [target, ...command], { env: { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" } });
    await inside("apt-get", "update", "-qq");
    await inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", ...extra);
    await inside("apt-get", "clean");
  });
}

/** Makes a folder in the cache under the hash of what it is made from, unless it is there; it appears whole or not at all. */
async function once(inputs: unknown, make: (target: string) => Promise<void>): Promise<string> {
  const key = createHash("sha256").update(JSON.stringify(inputs)).digest("hex").slice(0, 12);
  const folder = join(cacheDir(), "e2e", `rootfs-${key}`);
  if (existsSync(folder)) return folder;
  const temporary = `${folder}.${process.pid}`;
  mkdirSync(dirname(temporary), { recursive: true });
  try {
    await make(temporary);
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Somebody else may have finished the same one in the meantime.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
