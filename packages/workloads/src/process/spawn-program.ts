import { type ChildProcess, execFile, spawn } from "node:child_process";
import { close, constants, open as openCallback } from "node:fs";
import { access, open, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { type ProcessIdentity, processIdentity } from "@capstan/os";
import type { Program } from "../types.ts";
import { ALIVE_FD } from "./find-process.ts";
import type { Isolation } from "./isolation/isolation.ts";
import type { ProgramPaths } from "./layout.ts";
import { expand, homeOf } from "./program-files.ts";

const openFd = promisify(openCallback);
const closeFd = promisify(close);
const run = promisify(execFile);

/** What a machine that is short of something says: the program itself may be as it should. */
const SHORTAGES = new Set(["EAGAIN", "ENOMEM", "EMFILE", "ENFILE", "ENOSPC", "EDQUOT"]);

/** Thrown when a program is missing or cannot be executed, which a retry does not fix. */
export class NotExecutableError extends Error {}

/** Path of the opened executable in the new process, if it is started through that. */
const PROGRAM_FD = ALIVE_FD + 1;

/**
 * Starts a program that outlives the manager, with its output in its log and the write end of the pipe `alive` inherited. `watch` is called
 * while we still hold the pipe too: opened later, it would never report a program that exited at once. With its own user ID the program is
 * isolated from other owners. Where that is impossible, the executable is passed as an open file, because its folders may be closed to that
 * user.
 */
export async function spawnProgram(
  program: Program,
  paths: ProgramPaths,
  isolation: Isolation,
  watch: (identity: ProcessIdentity) => Promise<void>,
): Promise<void> {
  await rm(paths.alive, { force: true });
  await run("mkfifo", ["-m", "600", paths.alive]);
  const { command, uid, id } = program;
  if (uid !== undefined) await access(command, constants.X_OK).catch(notExecutable(command));
  const launch = uid === undefined ? undefined : await isolation.launch(id.owner, paths.dir, command, uid);
  const executable =
    uid === undefined || launch !== undefined ? undefined : await open(command, "r").catch(notExecutable(command));
  const log = await open(paths.log, "a", 0o600);
  // Opened for reading and writing, so that neither side waits for the other.
  const aliveFd = await openFd(paths.alive, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    const expanded = (text: string): string => expand(text, program, paths);
    const env = { PATH: process.env["PATH"] ?? "", HOME: homeOf(program, paths), ...program.env };
    const limit = program.memoryBytes === undefined ? {} : { GOMEMLIMIT: String(program.memoryBytes) };
    const args = program.args.map(expanded);
    const child = spawn(
      launch?.command ?? (executable === undefined ? command : `/proc/self/fd/${PROGRAM_FD}`),
      [...(launch?.args ?? []), ...args],
      {
        argv0: launch?.command ?? command,
        cwd: paths.dir,
        detached: true,
        env: Object.fromEntries(Object.entries({ ...env, ...limit }).map(([key, value]) => [key, expanded(value)])),
        stdio: ["ignore", log.fd, log.fd, aliveFd, ...(executable === undefined ? [] : [executable.fd])],
        // An isolated program is started as root, which drops its privileges last.
        ...(uid === undefined || launch !== undefined ? {} : { uid, gid: uid }),
      },
    );
    const pid = await spawned(child).catch(notExecutable(program.command));
    child.unref();
    // One that has exited already matches no process from now on.
    await watch(processIdentity(pid) ?? { pid, startTime: -1 });
  } finally {
    await closeFd(aliveFd);
    await log.close();
    await executable?.close();
  }
}

/** Rethrows what keeps a program from being executed, under its own name and not that of the file it is handed over by. */
function notExecutable(command: string): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || SHORTAGES.has(code)) throw error;
    throw new NotExecutableError(message.replaceAll(`/proc/self/fd/${PROGRAM_FD}`, command), { cause: error });
  };
}

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => (child.pid === undefined ? reject(new Error("no pid")) : resolve(child.pid)));
  });
}
