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

export const NAMESPACE_OPTION: OptionDefinition = {
  flags: "-n, --namespace <name>",
  summary: "Namespace of the cluster",
  default: "default",
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

/** The data directory that is meant. */
export function dataDirOf({ options, io }: Pick<CommandInput, "options" | "io">): string {
  return String(options["data"] ?? defaultDataDir(io.env));
}

/** The text of an option, undefined when it was not given. */
export function textOption(input: CommandInput, name: string): string | undefined {
  const value = input.options[name];
  return typeof value === "string" ? value : undefined;
}

/** The namespace that is meant. */
export function namespaceOf(input: CommandInput): string {
  return textOption(input, "namespace") ?? "default";
}
