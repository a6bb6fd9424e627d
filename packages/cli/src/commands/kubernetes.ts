import type { CommandDefinition } from "../command.ts";
import { DATA_OPTION } from "../options.ts";

/** Defines `capstan kubernetes install`, which installs the binaries that control planes hosted as processes run. */
export const kubernetesInstall: CommandDefinition = {
  name: "kubernetes install",
  summary: "Install the programs of a Kubernetes version for hosted control planes as processes",
  arguments: [{ name: "version", summary: "e.g. v1.37.1" }],
  options: [
    DATA_OPTION,
    {
      flags: "--from <dir>",
      summary: "Take programs from a local folder, such as the one `npm run kubernetes` prints",
      completes: "directories",
    },
    { flags: "--mirror <url>", summary: "Base address laid out as https://dl.k8s.io/release" },
    { flags: "--etcd-mirror <url>", summary: "Base address laid out as etcd's releases" },
    { flags: "--etcd-version <version>", summary: "Version of etcd" },
  ],
  run: async (input) => (await import("./kubernetes.run.ts")).runInstall(input),
};

/** Defines `capstan kubernetes list`, which lists the versions that hosted control planes can run on this machine. */
export const kubernetesList: CommandDefinition = {
  name: "kubernetes list",
  summary: "List the Kubernetes versions that hosted control planes can run on this machine",
  options: [DATA_OPTION],
  run: async (input) => (await import("./kubernetes.run.ts")).runList(input),
};

/** Defines `capstan kubernetes remove`, which deletes the binaries of an installed version. */
export const kubernetesRemove: CommandDefinition = {
  name: "kubernetes remove",
  summary: "Remove an installed Kubernetes version",
  arguments: [{ name: "version", summary: "e.g. v1.37.1" }],
  options: [DATA_OPTION],
  run: async (input) => (await import("./kubernetes.run.ts")).runRemove(input),
};
