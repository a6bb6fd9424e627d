import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";
import { WAIT_OPTIONS } from "./create-cluster.ts";

/** Defines `capstan delete cluster`, which deletes a cluster together with its control plane, workers and infrastructure. */
export const deleteCluster: CommandDefinition = {
  name: "delete cluster",
  summary: "Delete a cluster with its control plane, workers and infrastructure",
  details:
    "Asks for the cluster's name unless --yes is given. Exits when no object of the cluster is left. If interrupted, the deletion continues; watch it again with the same command.",
  arguments: [CLUSTER_ARGUMENT],
  options: [
    { flags: "-y, --yes", summary: "Do not ask for confirmation" },
    { flags: "--ignore-not-found", summary: "Succeed if the cluster does not exist" },
    ...WAIT_OPTIONS,
    ...CLUSTER_OPTIONS,
  ],
  examples: [{ command: "capstan delete cluster c1 --yes", does: "in a script" }],
  run: async (input) => (await import("./delete-cluster.run.ts")).runDeleteCluster(input),
};
