import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";

/** Defines `capstan pause`, which stops the controllers from reconciling a cluster. */
export const pause: CommandDefinition = {
  name: "pause",
  summary: "Pause the reconciliation of a cluster; what is running keeps running",
  arguments: [CLUSTER_ARGUMENT],
  options: CLUSTER_OPTIONS,
  examples: [{ command: "capstan pause demo", does: "before maintenance by hand" }],
  run: async (input) => (await import("./pause.run.ts")).runPause(input, true),
};

/** Defines `capstan resume`, which lets the controllers reconcile a paused cluster again. */
export const resume: CommandDefinition = {
  name: "resume",
  summary: "Resume the reconciliation of a paused cluster",
  arguments: [CLUSTER_ARGUMENT],
  options: CLUSTER_OPTIONS,
  run: async (input) => (await import("./pause.run.ts")).runPause(input, false),
};
