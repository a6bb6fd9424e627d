import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { isRunning, type ProcessIdentity, processIdentity, signalProcess } from "@capstan/os";
import { asUser, type VmUser } from "../host/vm-user.ts";

/** A QEMU that was started here. */
export interface StartedQemu {
  identity: ProcessIdentity;
  /** Its exit code, undefined after a signal. */
  exited: Promise<number | undefined>;
}

/** What the runner does with processes. */
export interface VmProcesses {
  /** Starts QEMU so that it survives the manager. What it prints goes to `log`. */
  start(command: { command: string; args: readonly string[] }, log: string, user?: VmUser): Promise<StartedQemu>;
  /** The QEMU that was started with this UUID, by this user. */
  find(uuid: string, user?: VmUser): Promise<ProcessIdentity | undefined>;
  isRunning(identity: ProcessIdentity): boolean;
  kill(identity: ProcessIdentity): void;
}

/** The processes of this machine. */
export const systemVmProcesses: VmProcesses = {
  start: async ({ command, args }, log, user) => {
    const own = user === undefined ? { command, args } : asUser(user, command, args);
    const output = await open(
      log,
      constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
      0o600,
    );
    try {
      const env = { PATH: process.env["PATH"] ?? "", QEMU_MODULE_DIR: process.env["QEMU_MODULE_DIR"] };
      const child = spawn(own.command, own.args, {
        cwd: "/",
        detached: true,
        env,
        stdio: ["ignore", output.fd, output.fd],
      });
      const exited = new Promise<number | undefined>((resolve) => {
        child.once("exit", (code) => resolve(code ?? undefined));
      });
      const pid = await spawned(child);
      child.unref();
      // One that has exited already matches no process from now on.
      return { identity: processIdentity(pid) ?? { pid, startTime: -1 }, exited };
    } finally {
      await output.close();
    }
  },
  find: async (uuid, user) => {
    for (const name of await readdir("/proc")) {
      const pid = Number(name);
      if (!Number.isInteger(pid)) continue;
      const args = (await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")).split("\0");
      if (args[args.indexOf("-uuid") + 1] !== uuid || !args.includes("-uuid")) continue;
      // A process of another user may call itself what it likes.
      const owner = await stat(`/proc/${name}`).catch(() => undefined);
      if (owner?.uid === (user?.uid ?? process.getuid?.())) return processIdentity(pid);
    }
    return undefined;
  },
  isRunning,
  kill: (identity) => void signalProcess(identity, "SIGKILL"),
};

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => (child.pid === undefined ? reject(new Error("no pid")) : resolve(child.pid)));
  });
}
