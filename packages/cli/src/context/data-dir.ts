import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the data directory of a standalone instance when --data is not given. */
export function defaultDataDir(env: Environment): string {
  return join(env["XDG_DATA_HOME"] ?? join(env["HOME"] ?? homedir(), ".local", "share"), "capstan");
}

/** Returns the folders with Kubernetes binaries in addition to the data directory's: those of `npm run kubernetes`. */
export function kubernetesCacheDirs(env: Environment): string[] {
  const cache =
    env["CAPSTAN_CACHE"] ?? join(env["XDG_CACHE_HOME"] ?? join(env["HOME"] ?? homedir(), ".cache"), "capstan");
  return [join(cache, "kubernetes")];
}
