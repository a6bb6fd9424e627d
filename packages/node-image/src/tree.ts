import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DEBIAN_PACKAGES, DEBIAN_SUITE, MASKED_UNITS, NODE_FILES } from "./contents.ts";
import { run } from "./run.ts";

/** Where Debian's packages come from. */
export interface TreeOptions {
  /** Base address of a Debian mirror; debootstrap's own by default. */
  readonly mirror?: string | undefined;
}

/** Everything that decides what a tree has, for caches. */
export const TREE_INPUTS: readonly unknown[] = [DEBIAN_SUITE, DEBIAN_PACKAGES, MASKED_UNITS, NODE_FILES];

/**
 * Makes the file system that all machines have in common: Debian with systemd, containerd and runc, without kernel and Kubernetes. Pods,
 * namespaces and virtual machines are made from it, each with files of its own on top. Needs root, debootstrap and about a minute.
 */
export async function makeTree(target: string, { mirror }: TreeOptions = {}): Promise<void> {
  const include = `--include=${DEBIAN_PACKAGES.join(",")}`;
  const from = mirror === undefined ? [] : [mirror];
  await run("debootstrap", ["--variant=minbase", include, DEBIAN_SUITE, target, ...from]);
  await writeFiles(target, NODE_FILES);
  await run("chroot", [target, "systemctl", "enable", "kubelet.service", "containerd.service"]);
  await run("chroot", [target, "systemctl", "mask", ...MASKED_UNITS]);
  await run("chroot", [target, "apt-get", "clean"]);
  // Every machine gets an identity of its own at its first boot.
  await rm(join(target, "etc/machine-id"), { force: true });
}

/** Writes texts into a tree, by their paths in it. */
export async function writeFiles(tree: string, files: Readonly<Record<string, string>>, mode = 0o644): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), text, { mode });
  }
}
