import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, NAMESPACE_OPTION } from "../options.ts";

const NAME = { name: "name", summary: "Name of the host; its Node will have the host's own name" };

/** Defines `capstan host add`, which enrols a bring-your-own host. */
export const hostAdd: CommandDefinition = {
  name: "host add",
  summary: "Enrol a host of your own: prints the one line to run on it",
  details: "The line holds a token that is good for this host alone, once, for an hour.",
  arguments: [NAME],
  options: [
    NAMESPACE_OPTION,
    { flags: "-l, --labels <labels>", summary: "Labels for selectors, e.g. rack=1,disk=ssd" },
    {
      flags: "--server <url>",
      summary: "Address of the management API as the host reaches it (default: as this command does)",
    },
    { flags: "--ssh <user@host>", summary: "Copy the agent to the host, enrol it and make it a service, over SSH" },
    { flags: "--ssh-args <text>", summary: "Further arguments of ssh, e.g. '-p 2222 -i key'" },
    { flags: "--agent <file>", summary: "The agent's program for --ssh (default: the one built in this checkout)" },
    ...API_OPTIONS,
  ],
  examples: [
    { command: "capstan host add rack1-a -l rack=1", does: "prints the line to run on the host" },
    { command: "capstan host add rack1-b --ssh root@10.0.0.12", does: "does it all over SSH" },
  ],
  run: async (input) => (await import("./host.run.ts")).runHostAdd(input),
};

/** Defines `capstan host list`, which lists bring-your-own hosts and their state. */
export const hostList: CommandDefinition = {
  name: "host list",
  summary: "List the hosts of your own",
  options: [{ ...NAMESPACE_OPTION }, ...API_OPTIONS],
  run: async (input) => (await import("./host.run.ts")).runHostList(input),
};

/** Defines `capstan host remove`, which deletes a bring-your-own host that no Machine uses. */
export const hostRemove: CommandDefinition = {
  name: "host remove",
  summary: "Forget a host that no machine uses",
  arguments: [NAME],
  options: [NAMESPACE_OPTION, ...API_OPTIONS],
  run: async (input) => (await import("./host.run.ts")).runHostRemove(input),
};

/** Defines `capstan host logs`, which shows the commands that the agent ran on a bring-your-own host, with their output. */
export const hostLogs: CommandDefinition = {
  name: "host logs",
  summary: "Show everything that was run on a host of your own, with its output",
  details:
    "Tokens, passwords and keys are left out. The host keeps the same text in /var/lib/capstan-host/bootstrap.log.",
  arguments: [{ name: "name", summary: "Name of the host" }],
  options: [NAMESPACE_OPTION, { flags: "-f, --follow", summary: "Go on as more is written" }, ...API_OPTIONS],
  run: async (input) => (await import("./host-logs.run.ts")).runHostLogs(input),
};
