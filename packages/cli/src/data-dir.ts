import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a standalone instance keeps everything, unless told otherwise. */
export function defaultDataDir(env: Environment): string {
  return join(env["XDG_DATA_HOME"] ?? join(env["HOME"] ?? homedir(), ".local", "share"), "capstan");
}

/** Folders with Kubernetes programs beside the data directory's own: those of `npm run kubernetes`. */
export function kubernetesCacheDirs(env: Environment): string[] {
  const cache =
    env["CAPSTAN_CACHE"] ?? join(env["XDG_CACHE_HOME"] ?? join(env["HOME"] ?? homedir(), ".cache"), "capstan");
  return [join(cache, "kubernetes")];
}
