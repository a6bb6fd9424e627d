import { readInstance } from "@capstan/manager";
import type { CommandDefinition } from "../command.ts";
import { defaultDataDir } from "../data-dir.ts";

const dataOption = { flags: "--data <dir>", summary: "Data directory (default: $XDG_DATA_HOME/capstan)" };

export const status: CommandDefinition = {
  name: "status",
  summary: "Tell whether the management plane runs on this machine",
  options: [dataOption],
  run: async ({ options, io }) => {
    const dataDir = String(options["data"] ?? defaultDataDir(io.env));
    const instance = await readInstance(dataDir);
    if (instance === undefined) {
      io.out(`capstan does not run on ${dataDir}\n`);
      io.err("Start it with: capstan up\n");
      return 1;
    }
    io.out(`capstan ${instance.version} runs since ${instance.startedAt} (pid ${instance.pid})\n`);
    io.out(`Server:     ${instance.server}\nKubeconfig: ${instance.kubeconfig}\nData:       ${dataDir}\n`);
    return 0;
  },
};

export const down: CommandDefinition = {
  name: "down",
  summary: "Stop the management plane of this machine and the hosted control planes it runs; data stays",
  options: [dataOption],
  run: async ({ options, io }) => {
    const dataDir = String(options["data"] ?? defaultDataDir(io.env));
    const instance = await readInstance(dataDir);
    if (instance === undefined) {
      io.err(`capstan does not run on ${dataDir}: nothing to stop\n`);
      return 0;
    }
    process.kill(instance.pid, "SIGTERM");
    io.err(`Stopping capstan (pid ${instance.pid}) …\n`);
    while ((await readInstance(dataDir)) !== undefined) await new Promise((resolve) => setTimeout(resolve, 100));
    io.err("Stopped. Start it again with: capstan up\n");
    return 0;
  },
};
