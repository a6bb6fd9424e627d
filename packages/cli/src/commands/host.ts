import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS } from "../options.ts";

const NAMESPACE = { flags: "-n, --namespace <name>", summary: "Namespace of the host", default: "default" };
const NAME = { name: "name", summary: "Name of the host; its Node will have the host's own name" };

export const hostAdd: CommandDefinition = {
  name: "host add",
  summary: "Enrol a host of your own: prints the one line to run on it",
  details: "The line holds a token that is good for this host alone, once, for an hour.",
  arguments: [NAME],
  options: [
    NAMESPACE,
    { flags: "-l, --labels <labels>", summary: "Labels for selectors, e.g. rack=1,disk=ssd" },
    {
      flags: "--server <url>",
      summary: "Address of the management API as the host reaches it (default: as this command does)",
    },
    ...API_OPTIONS,
  ],
  run: async (input) => (await import("./host.run.ts")).runHostAdd(input),
};

export const hostList: CommandDefinition = {
  name: "host list",
  summary: "List the hosts of your own",
  options: [{ ...NAMESPACE }, ...API_OPTIONS],
  run: async (input) => (await import("./host.run.ts")).runHostList(input),
};

export const hostRemove: CommandDefinition = {
  name: "host remove",
  summary: "Forget a host that no machine uses",
  arguments: [NAME],
  options: [NAMESPACE, ...API_OPTIONS],
  run: async (input) => (await import("./host.run.ts")).runHostRemove(input),
};
