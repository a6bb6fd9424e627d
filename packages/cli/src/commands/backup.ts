import { resolve } from "node:path";
import { AlreadyRunningError, readInstance, requestBackup, restoreStandalone } from "@capstan/manager";
import { type CommandDefinition, UserError } from "../command.ts";
import { defaultDataDir } from "../data-dir.ts";

const DATA = { flags: "--data <dir>", summary: "Data directory (default: $XDG_DATA_HOME/capstan)" };

export const backup: CommandDefinition = {
  name: "backup",
  summary: "Write a consistent copy of the management plane's objects while it runs",
  details: "The copy holds every object, Secrets too: keep it as safe as the data directory itself.",
  arguments: [{ name: "dir", summary: "Directory to write; must not exist" }],
  options: [DATA],
  run: async ({ arguments: [dir = ""], options, io }) => {
    const dataDir = String(options["data"] ?? defaultDataDir(io.env));
    if ((await readInstance(dataDir)) === undefined)
      throw new UserError(`capstan does not run on ${dataDir}`, {
        hint: "start it with: capstan up, or copy its stopped data directory",
      });
    await requestBackup(dataDir, resolve(dir)).catch(withCure);
    io.out(`Backup written to ${resolve(dir)}\n`);
    io.err("Restore it into a new data directory with: capstan restore DIR --data NEW\n");
    return 0;
  },
};

export const restore: CommandDefinition = {
  name: "restore",
  summary: "Fill a new data directory from a backup",
  arguments: [{ name: "dir", summary: "Directory that `capstan backup` wrote" }],
  options: [DATA],
  run: async ({ arguments: [dir = ""], options, io }) => {
    const dataDir = String(options["data"] ?? defaultDataDir(io.env));
    await restoreStandalone(resolve(dir), dataDir).catch((error: unknown) => {
      if (error instanceof AlreadyRunningError)
        throw new UserError(error.message, { hint: "stop it first: capstan down" });
      return withCure(error);
    });
    io.out(`Restored into ${dataDir}\n`);
    io.err(`Start it with: capstan up --data ${dataDir}\n`);
    return 0;
  },
};

function withCure(error: unknown): never {
  const cure = (error as { cure?: string }).cure;
  if (cure !== undefined && error instanceof Error) throw new UserError(error.message, { hint: cure });
  throw error;
}
