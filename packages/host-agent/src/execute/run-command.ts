import { spawn } from "node:child_process";
import type { Clock } from "@capstan/apimachinery";
import type { CloudConfigCommand } from "@capstan/userdata";
import { wholeLines } from "./redact.ts";

/** The result of a command. */
export interface CommandResult {
  exitCode: number;
  output: string;
  timedOut: boolean;
}

/** How to run a command. */
export interface RunOptions {
  clock: Clock;
  timeoutMs: number;
  signal?: AbortSignal;
  /** Standard input; secrets are passed here, never as arguments. */
  input?: string;
  /** Called with the id of its process group, which outlives a killed agent. */
  onStart?: (pid: number) => void;
  /** Called with output as it is printed. */
  onOutput?: (text: string) => void;
}

/** Runs a command; tests replace the real implementation. */
export type RunCommand = (command: CloudConfigCommand, options: RunOptions) => Promise<CommandResult>;

const MAX_OUTPUT = 256 * 1024;

/** Runs a shell line, or a program with arguments, until it exits. Its stdout and stderr are interleaved, as on a terminal. */
export function runCommand(command: CloudConfigCommand, options: RunOptions): Promise<CommandResult> {
  const [file, args] =
    typeof command === "string" ? ["/bin/sh", ["-c", command]] : [command[0] ?? "true", command.slice(1)];
  if (options.signal?.aborted === true) return Promise.resolve({ exitCode: 137, output: "", timedOut: false });
  return new Promise((resolve) => {
    let output = "";
    let isCut = false;
    let timedOut = false;
    // A process group of its own, so that everything the command started can be killed with it.
    const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"], detached: true });
    if (child.pid !== undefined) options.onStart?.(child.pid);
    const end = (): void => killGroup(child.pid);
    const cancel = options.clock.after(options.timeoutMs, () => {
      timedOut = true;
      end();
    });
    options.signal?.addEventListener("abort", end, { once: true });
    const take = (text: string): void => {
      options.onOutput?.(text);
      output += text;
      isCut ||= output.length > MAX_OUTPUT;
      output = output.slice(-MAX_OUTPUT);
    };
    // A character may come in two pieces.
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", take);
    // A command that reads nothing closes its end early.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    const finish = (exitCode: number, more = ""): void => {
      cancel();
      options.signal?.removeEventListener("abort", end);
      if (more !== "") options.onOutput?.(more);
      resolve({ exitCode, output: (isCut ? wholeLines(output) : output) + more, timedOut });
    };
    child.on("error", (error) => finish(127, String(error)));
    // Not "close": a daemon that was left behind keeps the output open forever.
    child.on("exit", (code) => {
      const late = options.clock.after(LINGER_MS, () => finish(code ?? 137));
      child.on("close", () => {
        late();
        finish(code ?? 137);
      });
    });
  });
}

/** How long output is waited for after a command's end. */
const LINGER_MS = 2_000;

/** Kills a process group, if it exists. */
export function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined && pid > 1) process.kill(-pid, "SIGKILL");
  } catch {
    // It has exited in the meantime.
  }
}
