import type { CommandDefinition } from "../command.ts";
import { VERSION } from "../version.ts";

export const version: CommandDefinition = {
  name: "version",
  summary: "Print the version of this command",
  run: ({ io }) => {
    io.out(`capstan ${VERSION} (node ${process.version})\n`);
    return Promise.resolve(0);
  },
};
