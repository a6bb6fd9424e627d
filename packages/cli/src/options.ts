import type { ArgumentDefinition, CommandInput, OptionDefinition } from "./command.ts";
import { defaultDataDir } from "./data-dir.ts";

/** Where a standalone instance keeps its data. */
export const DATA_OPTION: OptionDefinition = {
  flags: "--data <dir>",
  summary: "Data directory (default: $XDG_DATA_HOME/capstan)",
  completes: "directories",
};

/** Options of every command that talks to an API. */
export const API_OPTIONS: OptionDefinition[] = [
  { flags: "--kubeconfig <file>", summary: "Kubeconfig of the management cluster", completes: "files" },
  { flags: "--context <name>", summary: "Context of the kubeconfig" },
  { flags: "--data <dir>", summary: "Data directory of the standalone instance", completes: "directories" },
];

/** Options of every command, before or after its name. */
export const GLOBAL_OPTIONS: OptionDefinition[] = [
  { flags: "--color <when>", summary: "Colours (default: on a terminal)", choices: ["auto", "always", "never"] },
  { flags: "--request-timeout <duration>", summary: "How long one request may take, e.g. 5s (default: 75s)" },
  { flags: "-v, --v <level>", summary: "1 tells which API is asked, 6 every request with its time" },
];

export const NAMESPACE_OPTION: OptionDefinition = {
  flags: "-n, --namespace <name>",
  summary: "Namespace (default: that of the kubeconfig's context)",
  completes: "namespaces",
};

/** Arguments and options of commands about one cluster. */
export const CLUSTER_ARGUMENT: ArgumentDefinition = {
  name: "name",
  summary: "Name of the cluster",
  completes: "clusters",
};
export const CLUSTER_OPTIONS: OptionDefinition[] = [NAMESPACE_OPTION, ...API_OPTIONS];

export const LOG_LEVEL_OPTION: OptionDefinition = {
  flags: "--log-level <level>",
  summary: "What is logged",
  default: "warn",
  choices: ["debug", "info", "warn", "error", "silent"],
};

/** Who drives BareMetalHosts. */
export const METAL_HOSTS_OPTION: OptionDefinition = {
  flags: "--bare-metal-hosts <who>",
  summary: "Whether BareMetalHosts are driven from here: auto leaves them to upstream's baremetal-operator if it runs",
  default: "auto",
  choices: ["auto", "off"],
};

/** Providers from outside the tree. */
export const PROVIDER_OPTION: OptionDefinition = {
  flags: "--provider <file>",
  summary: "Load a provider of your own from a JavaScript module that exports it as `provider` (repeatable)",
  repeatable: true,
  completes: "files",
};

/** The modules that `--provider` names. */
export function providerFilesOf({ lists }: Pick<CommandInput, "lists">): readonly string[] {
  return lists["provider"] ?? [];
}

/** What of Machines goes to their Nodes beside what always does; named as upstream's manager has them. */
export const ALSO_ON_NODES_OPTIONS: OptionDefinition[] = [
  {
    flags: "--additional-sync-machine-labels <pattern>",
    summary: "Labels of Machines whose keys match go to their Nodes too (repeatable)",
    repeatable: true,
  },
  {
    flags: "--additional-sync-machine-annotations <pattern>",
    summary: "Annotations of Machines whose keys match go to their Nodes too (repeatable)",
    repeatable: true,
  },
];

/** How hosted control planes as processes of this machine are kept apart. */
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

/** Who is to drive BareMetalHosts. */
export function metalHostsOf({ options }: Pick<CommandInput, "options">): "auto" | "off" {
  return options["bareMetalHosts"] === "off" ? "off" : "auto";
}

/** The data directory that is meant. */
export function dataDirOf({ options, io }: Pick<CommandInput, "options" | "io">): string {
  return String(options["data"] ?? defaultDataDir(io.env));
}

/** What a command of that instance needs beside its name: nothing if its data is where commands look by themselves. */
export function dataFlag({ options }: Pick<CommandInput, "options">): string {
  return typeof options["data"] === "string" ? ` --data ${options["data"]}` : "";
}

/** The text of an option, undefined when it was not given. */
export function textOption(input: CommandInput, name: string): string | undefined {
  const value = input.options[name];
  return typeof value === "string" ? value : undefined;
}

/** The namespace that is meant; once a target is open also one that its kubeconfig names. */
export function namespaceOf(input: CommandInput): string {
  return textOption(input, "namespace") ?? "default";
}
