import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

/** Defines `capstan describe cluster`, which shows a cluster's objects and their conditions as a tree, like clusterctl. */
export const describeCluster: CommandDefinition = {
  name: "describe cluster",
  summary: "Show a cluster with its control plane, infrastructure and workers as a tree",
  details:
    "Identical machines are grouped into one line, and the parts of a machine are shown only if something is wrong; --grouping=false and --echo show all.",
  arguments: [CLUSTER_ARGUMENT],
  options: [
    { flags: "-w, --watch", summary: "Refresh the output on every change, until Ctrl-C" },
    { flags: "--echo", summary: "Show the parts of healthy machines too" },
    {
      flags: "--grouping <mode>",
      summary: "Group identical machines into one line",
      default: "true",
      choices: ["true", "false"],
    },
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
