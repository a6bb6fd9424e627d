import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

/** Defines `capstan logs`, which prints the component logs of a hosted control plane. */
export const logs: CommandDefinition = {
  name: "logs",
  summary: "Print the logs of a hosted control plane: of its processes on this machine, or of its pods",
  arguments: [
    CLUSTER_ARGUMENT,
    { name: "component", summary: "etcd, kube-apiserver, …; all of them unless said", required: false },
  ],
  options: [
    { flags: "-f, --follow", summary: "Go on with what is written next" },
    { flags: "--tail <lines>", summary: "How many lines of each to begin with; -1 means all", default: "20" },
    ...CLUSTER_OPTIONS,
  ],
  examples: [{ command: "capstan logs demo kube-apiserver -f", does: "what the API server says" }],
  run: async (input) => (await import("./logs.run.ts")).runLogs(input),
};
