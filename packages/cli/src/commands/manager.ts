import type { CommandDefinition } from "../command.ts";
import { ALLOW_ADDRESS_OPTION } from "../manager-options/allow-address.ts";
import {
  ALSO_ON_NODES_OPTIONS,
  DATA_OPTION,
  LOG_LEVEL_OPTION,
  METAL_HOSTS_OPTION,
  PROCESS_OPTIONS,
} from "../options.ts";

/** Defines `capstan manager`, which runs all controllers against an existing Kubernetes cluster. */
export const manager: CommandDefinition = {
  name: "manager",
  summary: "Run all controllers on an existing Kubernetes cluster as the management cluster",
  details:
    "Inside a cluster it uses its service account, elsewhere --kubeconfig or KUBECONFIG. Of several managers, only the holder of the Lease capstan-manager runs the controllers; the others wait and take over. Without --webhook-listen only the stored versions of kinds are served, and their rules are not validated on writes. Metrics on an address that is not loopback are served over TLS, to clients that the management cluster allows to get /metrics.",
  options: [
    { flags: "--kubeconfig <file>", summary: "Kubeconfig of the management cluster", completes: "files" },
    { flags: "--context <name>", summary: "Context of the kubeconfig" },
    DATA_OPTION,
    { flags: "--node-address <address>", summary: "Address at which nodes reach hosted control planes" },
    { flags: "--webhook-listen <address>", summary: "Serve conversion and admission webhooks at this address" },
    {
      flags: "--webhook-service <namespace/name>",
      summary: "Service in front of the webhooks (default: the address itself)",
    },
    {
      flags: "--dashboard <address>",
      summary: "Serve the dashboard at this loopback address; people sign in with a token of the management cluster",
    },
    {
      flags: "--leader-elect [bool]",
      summary: "Run the controllers only while holding the Lease (default: true)",
    },
    {
      flags: "--leader-elect-lease-duration <duration>",
      summary: "How long the other managers wait after the leader's last renewal",
      default: "15s",
    },
    {
      flags: "--leader-elect-renew-deadline <duration>",
      summary: "How long the leader tries to renew before it stops",
      default: "10s",
    },
    {
      flags: "--leader-elect-retry-period <duration>",
      summary: "How long to wait between attempts to acquire or renew the Lease",
      default: "2s",
    },
    {
      flags: "--leader-elect-resource-namespace <name>",
      summary: "Namespace of the Lease (default: the manager's own, outside a cluster capstan-system)",
      completes: "namespaces",
    },
    {
      flags: "--metrics-bind-address <address>",
      summary: 'Serve /metrics at this address, or "0" (default: 127.0.0.1:8080, or any free port)',
    },
    {
      flags: "--health-addr <address>",
      summary:
        'Serve /healthz, /readyz and /version at this address, or "0" (default: 127.0.0.1:9440, or any free port)',
    },
    ...PROCESS_OPTIONS,
    METAL_HOSTS_OPTION,
    ALLOW_ADDRESS_OPTION,
    ...ALSO_ON_NODES_OPTIONS,
    LOG_LEVEL_OPTION,
  ],
  examples: [
    {
      command: "capstan manager --kubeconfig mgmt.yaml --webhook-listen 192.168.10.5:9443",
      does: "run outside the cluster",
    },
  ],
  run: async (input) => (await import("./manager.run.ts")).runManager(input),
};
