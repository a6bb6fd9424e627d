import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

export const why: CommandDefinition = {
  name: "why",
  summary: "Tell why a cluster is not available: the chain of causes down to the root, and what to do",
  arguments: [CLUSTER_ARGUMENT],
  options: CLUSTER_OPTIONS,
  examples: [{ command: "capstan why demo", does: "the last line is the cause, and says what to do" }],
  run: async (input) => (await import("./why.run.ts")).runWhy(input),
};
