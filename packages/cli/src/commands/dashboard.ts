import type { CommandDefinition } from "../command.ts";
import { DATA_OPTION } from "../options.ts";

/** Defines `capstan dashboard`, which prints a one-time sign-in link to the dashboard of the running instance. */
export const dashboard: CommandDefinition = {
  name: "dashboard",
  summary: "Print a link that signs in to the dashboard of the running instance, once",
  options: [DATA_OPTION],
  run: async (input) => (await import("./dashboard.run.ts")).runDashboard(input),
};
