import { join } from "node:path";
import { installKubernetes, listKubernetes, removeKubernetes } from "@capstan/kubernetes-install";
import { planesOfVersion } from "@capstan/manager";
import { type CommandInput, UserError } from "../command.ts";
import { kubernetesCacheDirs } from "../context/data-dir.ts";
import { dataDirOf } from "../options.ts";

function folder(input: CommandInput): string {
  return join(dataDirOf(input), "kubernetes");
}

const text = (value: string | boolean | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Rethrows an error with its cure as the hint. */
export function withCure(error: unknown): never {
  const cure = (error as { cure?: string }).cure;
  throw cure === undefined || !(error instanceof Error) ? error : new UserError(error.message, { hint: cure });
}

/** Runs `capstan kubernetes install`: downloads or copies the control-plane binaries of one version into the data directory. */
export async function runInstall(input: CommandInput): Promise<number> {
  const [version = ""] = input.arguments;
  const { options, io } = input;
  const values = {
    from: text(options["from"]),
    mirror: text(options["mirror"]),
    etcdMirror: text(options["etcdMirror"]),
    etcdVersion: text(options["etcdVersion"]),
  };
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  const bin = await installKubernetes({
    version,
    into: folder(input),
    env: io.env,
    ...given,
    onProgress: progressLines((line) => io.err(line)),
  }).catch(withCure);
  io.out(`Kubernetes ${version} is in ${bin}\n`);
  return 0;
}

/** Returns a progress callback that prints one line per 10 % of a download, or per 10 MB when its size is unknown. */
export function progressLines(
  print: (line: string) => void,
): (what: string, received: number, total: number | undefined) => void {
  let last = "";
  return (what, received, total) => {
    const megabytes = (bytes: number, step = 1): number => Math.floor(bytes / 1e6 / step) * step;
    const reached =
      total === undefined || total === 0
        ? `${megabytes(received, 10)} MB`
        : `${Math.floor((received / total) * 10) * 10} % of ${Math.ceil(total / 1e6)} MB`;
    const line = `${what}: ${reached}\n`;
    if (line !== last) print(line);
    last = line;
  };
}

/** Runs `capstan kubernetes list`: prints the installed versions with their folders, those of the shared caches included. */
export async function runList(input: CommandInput): Promise<number> {
  const folders = [folder(input), ...kubernetesCacheDirs(input.io.env)];
  let found = 0;
  for (const place of folders)
    for (const version of await listKubernetes(place)) {
      input.io.out(`${version}\t${join(place, version, "bin")}\n`);
      found++;
    }
  if (found === 0) input.io.err("No Kubernetes is installed. Install one with: capstan kubernetes install v1.37.1\n");
  return 0;
}

/** Runs `capstan kubernetes remove`: deletes one version's binaries unless a hosted control plane of the data directory uses them. */
export async function runRemove(input: CommandInput): Promise<number> {
  const [version = ""] = input.arguments;
  const clusters = join(dataDirOf(input), "clusters");
  if (!(await removeKubernetes(folder(input), version, (used) => planesOfVersion(clusters, used)).catch(withCure)))
    throw new UserError(`Kubernetes ${version} is not installed in ${folder(input)}`, {
      hint: "list the installed versions: capstan kubernetes list",
    });
  input.io.out(`Kubernetes ${version} removed\n`);
  return 0;
}
