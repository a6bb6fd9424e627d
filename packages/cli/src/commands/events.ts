import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

/** Defines `capstan events`, which shows the Events of a cluster and its objects, oldest first. */
export const events: CommandDefinition = {
  name: "events",
  summary: "Show what happened to a cluster and its parts, oldest first",
  arguments: [CLUSTER_ARGUMENT],
  options: [
    { flags: "-w, --watch", summary: "After listing, watch for new events" },
    { flags: "--types <types>", summary: "Types of events to show: Normal, Warning" },
    { flags: "-o, --output <format>", summary: "json or yaml" },
    ...CLUSTER_OPTIONS,
  ],
  examples: [{ command: "capstan events demo --types Warning", does: "recent problems" }],
  run: async (input) => (await import("./events.run.ts")).runEvents(input),
};
