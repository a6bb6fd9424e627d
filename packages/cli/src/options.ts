import type { ArgumentDefinition, CommandInput, OptionDefinition } from "./command.ts";
import { defaultDataDir } from "./context/data-dir.ts";

/** The --data flag of commands that work on the data directory of a standalone instance. */
export const DATA_OPTION: OptionDefinition = {
  flags: "--data <dir>",
  summary: "Data directory (default: $XDG_DATA_HOME/capstan)",
  completes: "directories",
};

/** The flags that select the management API. */
export const API_OPTIONS: OptionDefinition[] = [
  { flags: "--kubeconfig <file>", summary: "Kubeconfig of the management cluster", completes: "files" },
  { flags: "--context <name>", summary: "Context of the kubeconfig" },
  { flags: "--data <dir>", summary: "Data directory of the standalone instance", completes: "directories" },
];

/** Flags that every command accepts, before or after its name. */
export const GLOBAL_OPTIONS: OptionDefinition[] = [
  { flags: "--color <when>", summary: "Colours (default: on a terminal)", choices: ["auto", "always", "never"] },
  { flags: "--request-timeout <duration>", summary: "How long one request may take, e.g. 5s (default: 75s)" },
  { flags: "-v, --v <level>", summary: "1 shows which API is used, 6 every request with its duration" },
];

/** The --namespace flag of commands that work in one namespace. */
export const NAMESPACE_OPTION: OptionDefinition = {
  flags: "-n, --namespace <name>",
  summary: "Namespace (default: that of the kubeconfig's context)",
  completes: "namespaces",
};

/** The positional argument that names a cluster. */
export const CLUSTER_ARGUMENT: ArgumentDefinition = {
  name: "name",
  summary: "Name of the cluster",
  completes: "clusters",
};
/** Flags of commands about one cluster: its namespace and the management API. */
export const CLUSTER_OPTIONS: OptionDefinition[] = [NAMESPACE_OPTION, ...API_OPTIONS];

/** The --log-level flag of commands that run controllers. */
export const LOG_LEVEL_OPTION: OptionDefinition = {
  flags: "--log-level <level>",
  summary: "Lowest level of log lines to print",
  default: "warn",
  choices: ["debug", "info", "warn", "error", "silent"],
};

/** The --bare-metal-hosts flag, which decides whether this manager reconciles BareMetalHosts. */
export const METAL_HOSTS_OPTION: OptionDefinition = {
  flags: "--bare-metal-hosts <who>",
  summary:
    "Whether this manager reconciles BareMetalHosts: auto leaves them to upstream's baremetal-operator if it is running",
  default: "auto",
  choices: ["auto", "off"],
};

/** The repeatable --provider flag, which loads a provider from outside this repository. */
export const PROVIDER_OPTION: OptionDefinition = {
  flags: "--provider <file>",
  summary: "Load a provider of your own from a JavaScript module that exports it as `provider` (repeatable)",
  repeatable: true,
  completes: "files",
};

/** Returns the module paths given with --provider. */
export function providerFilesOf({ lists }: Pick<CommandInput, "lists">): readonly string[] {
  return lists["provider"] ?? [];
}

/** Flags that sync further Machine labels and annotations to Nodes; upstream's manager has the same ones. */
export const ALSO_ON_NODES_OPTIONS: OptionDefinition[] = [
  {
    flags: "--additional-sync-machine-labels <pattern>",
    summary: "Sync Machine labels whose keys match to the Nodes too (repeatable)",
    repeatable: true,
  },
  {
    flags: "--additional-sync-machine-annotations <pattern>",
    summary: "Sync Machine annotations whose keys match to the Nodes too (repeatable)",
    repeatable: true,
  },
];

/** Flags that isolate and limit control planes hosted as processes on this machine. */
export const PROCESS_OPTIONS: OptionDefinition[] = [
  {
    flags: "--trust-tenants",
    summary: "Host control planes of several namespaces as processes even where they cannot be isolated",
  },
  {
    flags: "--control-plane-memory <quantity>",
    summary: "Memory that the processes of one hosted control plane may use (default: half of the machine's)",
  },
  {
    flags: "--control-plane-cpu <quantity>",
    summary: "CPUs that the processes of one hosted control plane may use (default: all, in equal shares)",
  },
  {
    flags: "--control-plane-processes <number>",
    summary: "Processes and threads that one hosted control plane may have (default: 4096)",
  },
];

/** Returns the value of --bare-metal-hosts. */
export function metalHostsOf({ options }: Pick<CommandInput, "options">): "auto" | "off" {
  return options["bareMetalHosts"] === "off" ? "off" : "auto";
}

/** Returns the data directory given with --data, or the default one. */
export function dataDirOf({ options, io }: Pick<CommandInput, "options" | "io">): string {
  return String(options["data"] ?? defaultDataDir(io.env));
}

/** Returns the --data flag to append to commands suggested to the user; empty when the default directory is used. */
export function dataFlag({ options }: Pick<CommandInput, "options">): string {
  return typeof options["data"] === "string" ? ` --data ${options["data"]}` : "";
}

/** Returns the value of a flag as text; undefined when it was not given. */
export function textOption(input: CommandInput, name: string): string | undefined {
  const value = input.options[name];
  return typeof value === "string" ? value : undefined;
}

/** Returns the namespace to work in; within `withTarget` that of the kubeconfig's context applies when --namespace is not given. */
export function namespaceOf(input: CommandInput): string {
  return textOption(input, "namespace") ?? "default";
}
