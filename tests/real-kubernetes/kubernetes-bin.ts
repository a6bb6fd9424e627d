import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The Kubernetes version that comparisons are made with unless a test asks for another. */
export const defaultKubernetesVersion = "v1.37.1";
/** The minor version before, from which upgrades start; it is built for CI too. */
export const previousKubernetesVersion = "v1.36.3";

/** The cache folder outside the checkout; the same rule as in tools/kubernetes/build.mjs. */
export function cacheDir(env: NodeJS.ProcessEnv = process.env): string {
  return env["CAPSTAN_CACHE"] || join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "capstan");
}

/** The folder with the programs built by `npm run kubernetes`; throws with the command that makes them if they are not there. */
export function kubernetesBin(version: string = defaultKubernetesVersion): string {
  const bin = process.env["CAPSTAN_KUBERNETES_BIN"] || join(cacheDir(), "kubernetes", version, "bin");
  if (!existsSync(join(bin, "kube-apiserver")))
    throw new Error(`no Kubernetes ${version} programs in ${bin}: run "npm run kubernetes" once`);
  return bin;
}
