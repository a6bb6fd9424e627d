import type { CommandDefinition } from "../command.ts";
import { DATA_OPTION } from "../options.ts";

/** Defines `capstan status`, which reports whether the standalone management plane is running on this machine. */
export const status: CommandDefinition = {
  name: "status",
  summary: "Show whether the management plane is running on this machine",
  details: "The exit code is 0 if it is running and 1 if it is not.",
  options: [DATA_OPTION],
  run: async (input) => (await import("./status.run.ts")).runStatus(input),
};

/** Defines `capstan down`, which stops the standalone management plane and the control planes that it hosts. */
export const down: CommandDefinition = {
  name: "down",
  summary: "Stop the management plane of this machine and the hosted control planes it runs; data stays",
  options: [DATA_OPTION],
  run: async (input) => (await import("./status.run.ts")).runDown(input),
};
