import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

/** Defines `capstan logs`, which prints the component logs of a hosted control plane. */
export const logs: CommandDefinition = {
  name: "logs",
  summary: "Print the logs of a hosted control plane: of its processes on this machine, or of its pods",
  arguments: [
    CLUSTER_ARGUMENT,
    { name: "component", summary: "etcd, kube-apiserver, … (default: all)", required: false },
  ],
  options: [
    { flags: "-f, --follow", summary: "Follow the logs as they grow" },
    { flags: "--tail <lines>", summary: "Number of lines of each log to show first; -1 means all", default: "20" },
    ...CLUSTER_OPTIONS,
  ],
  examples: [{ command: "capstan logs demo kube-apiserver -f", does: "follow the log of the API server" }],
  run: async (input) => (await import("./logs.run.ts")).runLogs(input),
};
