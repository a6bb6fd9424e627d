import type { CommandDefinition } from "../command.ts";
import { VERSION } from "../version.ts";

/** Defines `capstan version`, which prints the versions of capstan and Node.js. */
export const version: CommandDefinition = {
  name: "version",
  summary: "Print the version of this command",
  options: [{ flags: "-o, --output <format>", summary: "json or yaml", choices: ["json", "yaml"] }],
  run: async ({ options, io }) => {
    const { output } = options;
    if (typeof output === "string") {
      const format = (await import("../output/output.ts")).parseOutput(output);
      if (format.type === "text") io.out(format.render({ capstan: VERSION, node: process.version }));
      return 0;
    }
    io.out(`capstan ${VERSION} (node ${process.version})\n`);
    return 0;
  },
};
