import { spawn } from "node:child_process";
import type { Clock } from "@capstan/apimachinery";
import type { CloudConfigCommand } from "@capstan/userdata";

/** How a command ended. */
export interface CommandResult {
  exitCode: number;
  output: string;
  timedOut: boolean;
}

const MAX_OUTPUT = 256 * 1024;

/** Runs a shell line, or a program with its arguments, to its end. Output and errors are kept together, as a person would see them. */
export function runCommand(
  command: CloudConfigCommand,
  options: { clock: Clock; timeoutMs: number; signal?: AbortSignal },
): Promise<CommandResult> {
  const [file, args] =
    typeof command === "string" ? ["/bin/sh", ["-c", command]] : [command[0] ?? "true", command.slice(1)];
  return new Promise((resolve) => {
    let output = "";
    let timedOut = false;
    // A group of its own, so that everything the command started ends with it.
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended by itself meanwhile.
      }
    };
    const cancel = options.clock.after(options.timeoutMs, () => {
      timedOut = true;
      end();
    });
    options.signal?.addEventListener("abort", end, { once: true });
    const take = (chunk: Buffer): void => {
      output = (output + chunk.toString("utf8")).slice(-MAX_OUTPUT);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", (error) => {
      cancel();
      resolve({ exitCode: 127, output: String(error), timedOut });
    });
    child.on("close", (code) => {
      cancel();
      options.signal?.removeEventListener("abort", end);
      resolve({ exitCode: code ?? 137, output, timedOut });
    });
  });
}
