import type { CommandDefinition, OptionDefinition } from "../command.ts";
import { API_OPTIONS } from "../options.ts";

const TEMPLATE_OPTIONS: OptionDefinition[] = [
  { flags: "--list-variables", summary: "Print the template's variables instead of the manifests" },
  {
    flags: "--config <file>",
    summary: "File with values of variables (default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml)",
    completes: "files",
  },
];

/** Defines `capstan generate cluster`, the counterpart of `clusterctl generate cluster`. */
export const generateCluster: CommandDefinition = {
  name: "generate cluster",
  summary: "Print the manifests of a cluster from a template, with clusterctl's variables and functions",
  details:
    "Variables come from flags, else the environment, else the config file. CLUSTER_NAME, NAMESPACE, KUBERNETES_VERSION, CONTROL_PLANE_MACHINE_COUNT and WORKER_MACHINE_COUNT are set from the flags.",
  arguments: [{ name: "name", summary: "Name of the cluster" }],
  options: [
    {
      flags: "-i, --infrastructure <provider>",
      summary: "Provider whose template to use",
    },
    { flags: "-f, --flavor <name>", summary: "Which template of the provider, where it has several" },
    { flags: "--from <source>", summary: "Template: a file, a URL, or - for standard input", completes: "files" },
    { flags: "--from-config-map <name>", summary: "Template: a ConfigMap of the management cluster" },
    { flags: "--from-config-map-namespace <name>", summary: "Its namespace (default: that of the cluster)" },
    { flags: "--from-config-map-key <key>", summary: "Its key", default: "template" },
    { flags: "--kubernetes-version <version>", summary: "Version of Kubernetes" },
    { flags: "--control-plane-machine-count <count>", summary: "Machines of the control plane (default: 1)" },
    { flags: "--worker-machine-count <count>", summary: "Workers (default: 0)" },
    { flags: "-n, --target-namespace <name>", summary: "Namespace of the cluster", completes: "namespaces" },
    { flags: "--write-to <file>", summary: "Write to this file instead of standard output", completes: "files" },
    ...TEMPLATE_OPTIONS,
    ...API_OPTIONS,
  ],
  examples: [
    {
      command:
        "capstan generate cluster c1 -i byoh --kubernetes-version v1.37.1 --worker-machine-count 2 | kubectl apply -f -",
      does: "a cluster on your own hosts",
    },
    {
      command: "capstan generate cluster c1 --from template.yaml --list-variables",
      does: "the variables of a template",
    },
  ],
  run: async (input) => (await import("./generate.run.ts")).runGenerateCluster(input),
};

/** Defines `capstan generate yaml`, the counterpart of `clusterctl generate yaml`. */
export const generateYaml: CommandDefinition = {
  name: "generate yaml",
  summary: "Process any template, with clusterctl's variables and functions",
  options: [
    {
      flags: "--from <source>",
      summary: "Template: a file, a URL, or - for standard input",
      default: "-",
      completes: "files",
    },
    ...TEMPLATE_OPTIONS,
  ],
  examples: [
    { command: "cat template.yaml | NAME=c1 capstan generate yaml", does: "process a template from standard input" },
  ],
  run: async (input) => (await import("./generate.run.ts")).runGenerateYaml(input),
};
