import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

export const why: CommandDefinition = {
  name: "why",
  summary: "Tell why a cluster is not available: the chain of causes down to the root, and what to do",
  details: "Also of a part of a cluster: TYPE/NAME, or TYPE NAME.",
  arguments: [
    { ...CLUSTER_ARGUMENT, summary: "Name of the cluster, or TYPE/NAME of any part of one" },
    { name: "part", summary: "Name of the part, when the first word is its type", required: false },
  ],
  options: CLUSTER_OPTIONS,
  examples: [
    { command: "capstan why demo", does: "the last lines are the cause in plain words, and what to do" },
    { command: "capstan why machine/general-own-x7k2p", does: "of one machine" },
  ],
  run: async (input) => (await import("./why.run.ts")).runWhy(input),
};
