import { existsSync, readFileSync } from "node:fs";
import { lstat, rm } from "node:fs/promises";
import { RESTORE_FOLDER } from "@capstan/capi";

const MANIFEST = "/etc/kubernetes/manifests/etcd.yaml";
const DATA = "/var/lib/etcd";

/** An etcd that has restored its data and never started has a member too, but the manager has its data, and no other member knows it. */
const isCopy = (root: string): boolean => existsSync(`${root}${RESTORE_FOLDER}`);

/**
 * Returns the folder of the etcd member that a control plane machine has on this host; undefined if there is none. A member that was only
 * prepared counts: the others may know it already.
 */
export function etcdMember(root = ""): string | undefined {
  const manifest = textOf(`${root}${MANIFEST}`);
  // kubeadm writes it as an argument; a quote ends it in manifests that other tools wrote.
  const folder = /--data-dir=([^\s"']+)/.exec(manifest ?? "")?.[1] ?? DATA;
  const isMember = manifest !== undefined || (existsSync(`${root}${folder}/member`) && !isCopy(root));
  return isMember ? folder : undefined;
}

/**
 * Removes the member of etcd that a Machine has made in a folder. The Machine's manifest names the folder, so nothing is removed from a
 * folder that no etcd would be given, and no data that were on the host before `sinceMs`. Files of others stay.
 */
export async function removeEtcdData(folder: string, root: string, sinceMs: number | undefined): Promise<void> {
  if (!isDataFolder(folder)) return;
  const member = `${root}${folder}/member`;
  const found = await lstat(member).catch(() => undefined);
  if (found === undefined || (sinceMs !== undefined && found.birthtimeMs < sinceMs)) return;
  await rm(member, { recursive: true, force: true });
}

/** Whether a path may be a data folder: absolute, not a top-level folder, and without a way out of itself. */
function isDataFolder(folder: string): boolean {
  const names = folder.split("/").filter((name) => name !== "" && name !== ".");
  return folder.startsWith("/") && names.length > 1 && !names.includes("..");
}

/** Explains why a host with a member is left as it is; the cure depends on whether a machine claims the host. */
export function heldBecause(folder: string, cure: string): string {
  return `the host holds a member of etcd (${folder}), which only its control plane may remove, so the host is not cleaned: ${cure}`;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
