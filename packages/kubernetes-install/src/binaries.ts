import { access, constants, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Finds the binaries of a Kubernetes version on this machine. */
export interface Binaries {
  /** The folder that holds kube-apiserver, etcd and the others, or what to do to get them. */
  find(version: string): Promise<{ dir: string } | { missing: string; cure: string }>;
}

const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** Returns the folder in a data directory where `capstan kubernetes install` puts binaries. */
export function kubernetesDir(dataDir: string): string {
  return join(dataDir, "kubernetes");
}

/** Finds binaries in folders laid out as `VERSION/bin/PROGRAM`; the first folder that has all of them wins. */
export function binariesIn(folders: readonly string[]): Binaries {
  return {
    find: async (version) => {
      for (const folder of folders) {
        const dir = join(folder, version, "bin");
        if (await hasAll(dir)) return { dir };
      }
      return {
        missing: `the binaries of Kubernetes ${version} are not installed on this machine`,
        cure: `run: capstan kubernetes install ${version}`,
      };
    },
  };
}

/** Returns the versions that are completely installed in one of these folders, oldest first. */
export async function installedVersions(folders: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const folder of folders)
    for (const name of await readdir(folder).catch(() => []))
      if (/^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(name) && (await hasAll(join(folder, name, "bin")))) found.add(name);
  return [...found].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

async function hasAll(dir: string): Promise<boolean> {
  try {
    // One after the other: the first program shows when a folder holds another version.
    for (const name of PROGRAMS) await access(join(dir, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
