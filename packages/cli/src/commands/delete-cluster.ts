import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";
import { WAIT_OPTIONS } from "./create-cluster.ts";

/** Defines `capstan delete cluster`, which deletes a cluster together with its control plane, workers and infrastructure. */
export const deleteCluster: CommandDefinition = {
  name: "delete cluster",
  summary: "Delete a cluster with its control plane, workers and infrastructure",
  details:
    "Asks for the cluster's name unless --yes. Ends when nothing of the cluster is left. Interrupted, the deletion goes on; the same command watches it again.",
  arguments: [CLUSTER_ARGUMENT],
  options: [
    { flags: "-y, --yes", summary: "Do not ask" },
    { flags: "--ignore-not-found", summary: "A cluster that is not there is no error" },
    ...WAIT_OPTIONS,
    ...CLUSTER_OPTIONS,
  ],
  examples: [{ command: "capstan delete cluster c1 --yes", does: "in a script" }],
  run: async (input) => (await import("./delete-cluster.run.ts")).runDeleteCluster(input),
};
