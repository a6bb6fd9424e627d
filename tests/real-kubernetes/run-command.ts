import { execFile } from "node:child_process";

/** What a finished program left behind. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Settings of a program run to its end. */
export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Milliseconds until it is killed; none by default. */
  readonly timeout?: number;
}

/** Runs a program to its end and gives back its exit code and output; only a program that cannot be started is an error. */
export function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      [...args],
      {
        env: { ...process.env, ...options.env },
        cwd: options.cwd,
        maxBuffer: 256 * 1024 * 1024,
        timeout: options.timeout ?? 0,
        killSignal: "SIGKILL",
      },
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== "number" && !error.killed && error.signal === null) reject(error);
        else resolve({ code: exitCode(error), stdout, stderr });
      },
    );
    // A program that does not read its input closes the pipe early; its exit code tells the story then.
    child.stdin?.on("error", () => {});
    child.stdin?.end(options.input ?? "");
  });
}

/** Like {@link runCommand}, but a non-zero exit code is an error that carries the program's own words. Gives back stdout. */
export async function mustRun(file: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code !== 0) throw new Error(`${file} ${args.join(" ")}: exit code ${code}\n${stderr.trim() || stdout.trim()}`);
  return stdout;
}

function exitCode(error: { code?: unknown } | null): number {
  if (error === null) return 0;
  return typeof error.code === "number" ? error.code : 137;
}
