import { resolve } from "node:path";
import { readInstance, requestBackup } from "@capstan/manager/instance";
import { type CommandInput, UserError } from "../command.ts";
import { dataDirOf } from "../options.ts";

/** Runs `capstan backup`: requests a backup from the instance that is running on the data directory. */
export async function runBackup(input: CommandInput): Promise<number> {
  const {
    arguments: [dir = ""],
    io,
  } = input;
  const dataDir = dataDirOf(input);
  if ((await readInstance(dataDir)) === undefined)
    throw new UserError(`capstan is not running on ${dataDir}`, {
      hint: "start it with: capstan up, name its directory with --data, or copy that directory while it is stopped",
    });
  await requestBackup(dataDir, resolve(dir)).catch(withCure);
  io.out(`Backup written to ${resolve(dir)}\n`);
  io.err("Restore it into a new data directory with: capstan restore DIR --data NEW\n");
  return 0;
}

/** Runs `capstan restore`: fills an empty data directory from a backup; refuses while an instance is running on it. */
export async function runRestore(input: CommandInput): Promise<number> {
  const {
    arguments: [dir = ""],
    io,
  } = input;
  const dataDir = dataDirOf(input);
  const { AlreadyRunningError, restoreStandalone } = await import("@capstan/manager");
  await restoreStandalone(resolve(dir), dataDir).catch((error: unknown) => {
    if (error instanceof AlreadyRunningError)
      throw new UserError(error.message, { hint: "stop it first: capstan down" });
    return withCure(error);
  });
  io.out(`Restored into ${dataDir}\n`);
  io.err(`Start it with: capstan up --data ${dataDir}\n`);
  return 0;
}

function withCure(error: unknown): never {
  const cure = (error as { cure?: string }).cure;
  if (cure !== undefined && error instanceof Error) throw new UserError(error.message, { hint: cure });
  throw error;
}
