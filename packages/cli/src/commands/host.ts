import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, NAMESPACE_OPTION } from "../options.ts";

const NAME = { name: "name", summary: "Name of the host; its Node will have the host's own name" };

/** Defines `capstan host add`, which enrols a bring-your-own host. */
export const hostAdd: CommandDefinition = {
  name: "host add",
  summary: "Enrol one of your own hosts: prints the command to run on it",
  details: "The command holds a token that is valid for this host only, once, for an hour.",
  arguments: [NAME],
  options: [
    NAMESPACE_OPTION,
    { flags: "-l, --labels <labels>", summary: "Labels for selectors, e.g. rack=1,disk=ssd" },
    {
      flags: "--server <url>",
      summary: "Address at which the host reaches the management API (default: the one this command uses)",
    },
    { flags: "--ssh <user@host>", summary: "Copy the agent to the host, enrol it and make it a service, over SSH" },
    { flags: "--ssh-args <text>", summary: "Further arguments of ssh, e.g. '-p 2222 -i key'" },
    { flags: "--agent <file>", summary: "The agent's program for --ssh (default: the one built in this checkout)" },
    ...API_OPTIONS,
  ],
  examples: [
    { command: "capstan host add rack1-a -l rack=1", does: "prints the command to run on the host" },
    { command: "capstan host add rack1-b --ssh root@10.0.0.12", does: "does it all over SSH" },
  ],
  run: async (input) => (await import("./host.run.ts")).runHostAdd(input),
};

/** Defines `capstan host list`, which lists bring-your-own hosts and their state. */
export const hostList: CommandDefinition = {
  name: "host list",
  summary: "List your own hosts",
  options: [{ ...NAMESPACE_OPTION }, ...API_OPTIONS],
  run: async (input) => (await import("./host.run.ts")).runHostList(input),
};

/** Defines `capstan host remove`, which deletes a bring-your-own host that no Machine uses. */
export const hostRemove: CommandDefinition = {
  name: "host remove",
  summary: "Remove a host that no machine uses",
  arguments: [NAME],
  options: [NAMESPACE_OPTION, ...API_OPTIONS],
  run: async (input) => (await import("./host.run.ts")).runHostRemove(input),
};

/** Defines `capstan host logs`, which shows the commands that the agent ran on a bring-your-own host, with their output. */
export const hostLogs: CommandDefinition = {
  name: "host logs",
  summary: "Show every command that ran on one of your own hosts, with its output",
  details:
    "Tokens, passwords and keys are left out. The host keeps the same text in /var/lib/capstan-host/bootstrap.log.",
  arguments: [{ name: "name", summary: "Name of the host" }],
  options: [NAMESPACE_OPTION, { flags: "-f, --follow", summary: "Follow the log as it grows" }, ...API_OPTIONS],
  run: async (input) => (await import("./host-logs.run.ts")).runHostLogs(input),
};
