import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

/** Defines `capstan why`, which explains the state of a cluster or one of its objects. */
export const why: CommandDefinition = {
  name: "why",
  summary: "Show the state of a cluster and every cause of it, most severe first, with what to do",
  details:
    "States: Healthy, Progressing, Degraded, Paused, Hibernated; Unknown while its API cannot be reached. Also works for a part of a cluster: TYPE/NAME, or TYPE NAME.",
  arguments: [
    { ...CLUSTER_ARGUMENT, summary: "Name of the cluster, or TYPE/NAME of any part of one" },
    { name: "part", summary: "Name of the part, when the first word is its type", required: false },
  ],
  options: CLUSTER_OPTIONS,
  examples: [
    { command: "capstan why demo", does: "explain each cause, and what to do" },
    { command: "capstan why machine/general-own-x7k2p", does: "for one machine" },
  ],
  run: async (input) => (await import("./why.run.ts")).runWhy(input),
};
