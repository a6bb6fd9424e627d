import { systemClock } from "@capstan/apimachinery";
import { API_OPTIONS, openTarget } from "../api-target.ts";
import { clusterTree } from "../cluster-tree.ts";
import { type CommandDefinition, UserError } from "../command.ts";
import { renderTree } from "../tree.ts";

const HEADERS = ["NAME", "STATUS", "REASON", "SINCE", "MESSAGE"];

export const describeCluster: CommandDefinition = {
  name: "describe cluster",
  summary: "Show a cluster with its control plane, infrastructure and workers as a tree",
  arguments: [{ name: "name", summary: "Name of the cluster" }],
  options: [
    { flags: "-n, --namespace <name>", summary: "Namespace of the cluster", default: "default" },
    ...API_OPTIONS,
  ],
  examples: [{ command: "capstan describe cluster demo", does: "show every part of demo and why it is not ready" }],
  run: async (input) => {
    const [name = ""] = input.arguments;
    const namespace = String(input.options["namespace"] ?? "default");
    const target = await openTarget(input);
    try {
      const tree = await clusterTree(target.client, namespace, name, systemClock.now());
      if (tree === undefined)
        throw new UserError(`cluster ${namespace}/${name} not found in ${target.description}`, {
          hint: "list all with: kubectl get clusters -A",
        });
      input.io.out(`${renderTree(HEADERS, [tree])}\n`);
      return 0;
    } finally {
      await target.close();
    }
  },
};
