import type { CommandDefinition } from "../command.ts";
import { DATA_OPTION, LOG_LEVEL_OPTION, METAL_HOSTS_OPTION } from "../options.ts";

export const manager: CommandDefinition = {
  name: "manager",
  summary: "Run all controllers on a management cluster that is a Kubernetes of its own",
  details:
    "Inside a cluster it uses its service account, elsewhere --kubeconfig or KUBECONFIG. Without --webhook-listen only the stored versions of kinds are served and their rules are not checked on writing.",
  options: [
    { flags: "--kubeconfig <file>", summary: "Kubeconfig of the management cluster", completes: "files" },
    { flags: "--context <name>", summary: "Context of the kubeconfig" },
    DATA_OPTION,
    { flags: "--node-address <address>", summary: "Address that nodes reach hosted control planes at" },
    { flags: "--webhook-listen <address>", summary: "Serve conversion and admission webhooks at this address" },
    {
      flags: "--webhook-service <namespace/name>",
      summary: "Service that leads to them (default: the address itself)",
    },
    {
      flags: "--dashboard <address>",
      summary: "Serve the dashboard at this loopback address; people sign in with a token of the management cluster",
    },
    METAL_HOSTS_OPTION,
    LOG_LEVEL_OPTION,
  ],
  examples: [
    {
      command: "capstan manager --kubeconfig mgmt.yaml --webhook-listen 192.168.10.5:9443",
      does: "run beside the cluster",
    },
  ],
  run: async (input) => (await import("./manager.run.ts")).runManager(input),
};
