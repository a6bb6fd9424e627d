import type { CommandDefinition } from "../command.ts";
import { DATA_OPTION } from "../options.ts";

/** Defines `capstan backup`, which copies all objects of a running standalone instance. */
export const backup: CommandDefinition = {
  name: "backup",
  summary: "Write a consistent copy of the management plane's objects while it runs",
  details: "The copy holds every object, Secrets too: keep it as safe as the data directory itself.",
  arguments: [{ name: "dir", summary: "Directory to write; must not exist", completes: "directories" }],
  options: [DATA_OPTION],
  examples: [{ command: "capstan backup /backups/monday", does: "while it runs; nothing stops for it" }],
  run: async (input) => (await import("./backup.run.ts")).runBackup(input),
};

/** Defines `capstan restore`, which fills a new data directory from such a copy. */
export const restore: CommandDefinition = {
  name: "restore",
  summary: "Restore a backup into a new data directory",
  arguments: [{ name: "dir", summary: "Directory that `capstan backup` wrote", completes: "directories" }],
  options: [DATA_OPTION],
  examples: [
    { command: "capstan restore /backups/monday --data /srv/capstan", does: "then: capstan up --data /srv/capstan" },
  ],
  run: async (input) => (await import("./backup.run.ts")).runRestore(input),
};
