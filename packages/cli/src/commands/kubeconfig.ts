import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

/** Defines `capstan kubeconfig`, which prints the admin kubeconfig of a workload cluster. */
export const kubeconfig: CommandDefinition = {
  name: "kubeconfig",
  summary: "Print the admin kubeconfig of a cluster",
  arguments: [CLUSTER_ARGUMENT],
  options: CLUSTER_OPTIONS,
  examples: [
    { command: "capstan kubeconfig demo > demo.kubeconfig", does: "keep it in a file for kubectl --kubeconfig" },
  ],
  run: async (input) => (await import("./kubeconfig.run.ts")).runKubeconfig(input),
};
