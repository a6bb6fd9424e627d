import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type CommandIo, UserError } from "./command.ts";

/**
 * Runs the plugin `capstan-WORD` on the PATH that the arguments name; undefined when there is none. As with kubectl's plugins, the longest
 * name wins, and dashes within words are underscores in the file name.
 */
export async function runPlugin(args: readonly string[], io: CommandIo): Promise<number | undefined> {
  const found = findPlugin(args, io.env["PATH"] ?? "");
  if (found === undefined) return undefined;
  const child = spawn(found.path, found.rest, { stdio: "inherit", env: { ...io.env } });
  return await new Promise<number>((resolve, reject) => {
    child.once("error", (error) => reject(new UserError(`${found.path} cannot be run: ${error.message}`)));
    child.once("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}

/** Finds the plugin that the first arguments name, and returns the remaining ones with it. */
export function findPlugin(
  args: readonly string[],
  path: string,
): { path: string; rest: readonly string[] } | undefined {
  const end = args.findIndex((word) => word.startsWith("-"));
  const words = args.slice(0, end < 0 ? args.length : end);
  // Words become part of a file name: rejects any that could leave the folder.
  const plain = words.findIndex((word) => !/^[A-Za-z0-9][\w.-]*$/.test(word));
  for (let count = plain < 0 ? words.length : plain; count > 0; count--) {
    const name = `capstan-${words
      .slice(0, count)
      .map((word) => word.replaceAll("-", "_"))
      .join("-")}`;
    for (const folder of path.split(delimiter).filter((entry) => entry !== "")) {
      const file = join(folder, name);
      if (isProgram(file)) return { path: file, rest: args.slice(count) };
    }
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
