import { spawn } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type CommandIo, UserError } from "./command.ts";

/** Where a checkout has the agent's program. */
const BUILT = fileURLToPath(new URL("../../../dist/agent/capstan-host-agent", import.meta.url));
const UPLOADED = "/tmp/capstan-host-agent.new";
const INSTALLED = "/usr/local/bin/capstan-host-agent";

/** How to reach a host over SSH, and what to enrol there. */
export interface SshOptions {
  /** `user@host`. */
  target: string;
  /** Additional ssh arguments, e.g. `-p 2222 -i key`. */
  args: readonly string[];
  /** The agent's program; by default the one built in this checkout. */
  agent: string | undefined;
  line: string;
  io: CommandIo;
}

/**
 * Copies the agent to a host over SSH, enrols it and installs it as a service. The token is passed on standard input, not as an argument.
 */
export async function enrolOverSsh(options: SshOptions): Promise<void> {
  const { target, io } = options;
  const agent = options.agent ?? BUILT;
  if (!existsSync(agent))
    throw new UserError(`the host agent is not at ${agent}`, {
      hint: "build it with: npm run build && node tools/agent/executable.mjs, or name it with --agent FILE",
    });
  if (!/^[\w.-]+(@[\w.:[\]-]+)?$/.test(target) || target.startsWith("-"))
    throw new UserError(`--ssh ${target} is not USER@HOST`, { exitCode: 2 });
  io.err(`copying the agent to ${target} …\n`);
  const upload = `umask 077; cat > ${UPLOADED}`;
  await ssh(options, upload, createReadStream(agent));
  io.err(`enrolling ${target} …\n`);
  const enrol = [
    "set -e",
    'sudo=""; [ "$(id -u)" = 0 ] || sudo="sudo -n"',
    `$sudo install -m 755 ${UPLOADED} ${INSTALLED}`,
    `rm -f ${UPLOADED}`,
    `$sudo ${INSTALLED} --enrol - --service`,
  ].join("; ");
  await ssh(options, enrol, Readable.from([options.line]));
}

async function ssh(options: SshOptions, command: string, input: Readable): Promise<void> {
  const { target, args, io } = options;
  const all = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=15", ...args, target, "--", command];
  const child = spawn("ssh", all, { stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  const take = (chunk: Buffer): void => {
    output += chunk.toString("utf8");
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  // A refused connection closes its input early; the exit code reports the failure.
  child.stdin.on("error", () => undefined);
  input.pipe(child.stdin);
  const code = await new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve(exitCode ?? 1));
  }).catch((error: unknown) => {
    throw new UserError(`ssh cannot be started: ${error instanceof Error ? error.message : String(error)}`, {
      hint: "install an SSH client, or run the line on the host yourself: leave --ssh out",
    });
  });
  if (code === 0) {
    if (output.trim() !== "") io.err(`${output.trim()}\n`);
    return;
  }
  throw new UserError(`ssh ${target} exited with code ${code}: ${output.trim().slice(-2000)}`, {
    hint:
      code === 255
        ? `check that this works without a prompt: ssh ${[...args, target].join(" ")} true`
        : "check that the user is root or may use sudo without a password, then run the same command again",
  });
}
