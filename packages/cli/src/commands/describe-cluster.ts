import { systemClock } from "@capstan/apimachinery";
import type { CommandDefinition } from "../command.ts";
import { DESCRIBE_HEADERS, describeTree } from "../describe-tree.ts";
import { renderTree } from "../tree.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS, withCluster } from "./with-cluster.ts";

export const describeCluster: CommandDefinition = {
  name: "describe cluster",
  summary: "Show a cluster with its control plane, infrastructure and workers as a tree",
  arguments: [CLUSTER_ARGUMENT],
  options: CLUSTER_OPTIONS,
  examples: [{ command: "capstan describe cluster demo", does: "show every part of demo and why it is not ready" }],
  run: (input) =>
    withCluster(input, async (tree) => {
      input.io.out(`${renderTree(DESCRIBE_HEADERS, [describeTree(tree, systemClock.now())])}\n`);
      return 0;
    }),
};
