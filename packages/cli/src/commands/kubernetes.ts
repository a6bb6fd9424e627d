import { join } from "node:path";
import { installKubernetes, listKubernetes, removeKubernetes } from "@capstan/manager";
import { type CommandDefinition, type CommandInput, UserError } from "../command.ts";
import { defaultDataDir, kubernetesCacheDirs } from "../data-dir.ts";

const DATA = { flags: "--data <dir>", summary: "Data directory (default: $XDG_DATA_HOME/capstan)" };

function folder({ options, io }: CommandInput): string {
  return join(String(options["data"] ?? defaultDataDir(io.env)), "kubernetes");
}

const text = (value: string | boolean | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

export const kubernetesInstall: CommandDefinition = {
  name: "kubernetes install",
  summary: "Install the programs of a Kubernetes version for hosted control planes as processes",
  arguments: [{ name: "version", summary: "e.g. v1.34.4" }],
  options: [
    DATA,
    {
      flags: "--from <dir>",
      summary: "Take programs from a local folder, such as the one `npm run kubernetes` prints",
    },
    { flags: "--mirror <url>", summary: "Base address laid out as https://dl.k8s.io/release" },
    { flags: "--etcd-mirror <url>", summary: "Base address laid out as etcd's releases" },
    { flags: "--etcd-version <version>", summary: "Version of etcd" },
  ],
  run: async (input) => {
    const [version = ""] = input.arguments;
    const { options, io } = input;
    const values = {
      from: text(options["from"]),
      mirror: text(options["mirror"]),
      etcdMirror: text(options["etcdMirror"]),
      etcdVersion: text(options["etcdVersion"]),
    };
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    let shown = -1;
    const bin = await installKubernetes({
      version,
      into: folder(input),
      ...given,
      onProgress: (what, received, total) => {
        const percent = total === undefined ? 0 : Math.floor((received / total) * 10) * 10;
        if (percent === shown) return;
        shown = percent;
        io.err(`${what}: ${percent} %\n`);
      },
    }).catch((error: unknown) => {
      const cure = (error as { cure?: string }).cure;
      throw cure === undefined || !(error instanceof Error) ? error : new UserError(error.message, { hint: cure });
    });
    io.out(`Kubernetes ${version} is in ${bin}\n`);
    return 0;
  },
};

export const kubernetesList: CommandDefinition = {
  name: "kubernetes list",
  summary: "List the Kubernetes versions that hosted control planes can run on this machine",
  options: [DATA],
  run: async (input) => {
    const folders = [folder(input), ...kubernetesCacheDirs(input.io.env)];
    let found = 0;
    for (const place of folders)
      for (const version of await listKubernetes(place)) {
        input.io.out(`${version}\t${join(place, version, "bin")}\n`);
        found++;
      }
    if (found === 0) input.io.err("No Kubernetes is installed. Install one with: capstan kubernetes install v1.34.4\n");
    return 0;
  },
};

export const kubernetesRemove: CommandDefinition = {
  name: "kubernetes remove",
  summary: "Remove an installed Kubernetes version",
  arguments: [{ name: "version", summary: "e.g. v1.34.4" }],
  options: [DATA],
  run: async (input) => {
    const [version = ""] = input.arguments;
    if (!(await removeKubernetes(folder(input), version)))
      throw new UserError(`Kubernetes ${version} is not installed in ${folder(input)}`, {
        hint: "see what is: capstan kubernetes list",
      });
    input.io.out(`Kubernetes ${version} removed\n`);
    return 0;
  },
};
