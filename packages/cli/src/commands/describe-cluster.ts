import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

/** Defines `capstan describe cluster`, which shows a cluster's objects and their conditions as a tree, like clusterctl. */
export const describeCluster: CommandDefinition = {
  name: "describe cluster",
  summary: "Show a cluster with its control plane, infrastructure and workers as a tree",
  details:
    "Equal machines are shown as one line, parts of a machine only where something is wrong; --grouping=false and --echo show all.",
  arguments: [CLUSTER_ARGUMENT],
  options: [
    { flags: "-w, --watch", summary: "Show it again whenever something changed, until Ctrl-C" },
    { flags: "--echo", summary: "Show the parts of machines even when all is well with them" },
    { flags: "--grouping <mode>", summary: "Show equal machines as one", default: "true", choices: ["true", "false"] },
    {
      flags: "--show-conditions <what>",
      summary: "Show all conditions of: all, KIND, KIND/NAME, or a list of these",
    },
    { flags: "--show-machinesets", summary: "Show MachineSets between deployments and machines" },
    ...CLUSTER_OPTIONS,
  ],
  examples: [
    { command: "capstan describe cluster demo", does: "show every part of demo and why it is not ready" },
    {
      command: "capstan describe cluster demo --show-conditions HostedControlPlane",
      does: "every condition of its control plane",
    },
  ],
  run: async (input) => (await import("./describe-cluster.run.ts")).runDescribeCluster(input),
};
