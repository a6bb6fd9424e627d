import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "@capstan/controlplane-hosted";

const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** Finds Kubernetes programs below folders laid out as `VERSION/bin/PROGRAM`, the first that has them all. */
export function binariesIn(folders: readonly string[]): Binaries {
  return {
    find: async (version) => {
      for (const folder of folders) {
        const dir = join(folder, version, "bin");
        if (await hasAll(dir)) return { dir };
      }
      return {
        missing: `the programs of Kubernetes ${version} are not on this machine`,
        cure: `run: capstan kubernetes install ${version}`,
      };
    },
  };
}

async function hasAll(dir: string): Promise<boolean> {
  try {
    // One after the other: a folder of another version is known by the first.
    for (const name of PROGRAMS) await access(join(dir, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
