import { spawn } from "node:child_process";

/** What a finished program left behind. */
export interface CommandResult {
  /** Exit code; 137 if it was killed. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Settings of a program run to its end. */
export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Milliseconds until it is killed with everything it has started; none by default. */
  readonly timeout?: number;
}

/** Runs a program to its end and gives back its exit code and output; only a program that cannot be started is an error. */
export function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env: { ...process.env, ...options.env },
      cwd: options.cwd,
      stdio: ["pipe", "pipe", "pipe"],
      // A process group of its own, so that a timeout reaches grandchildren too: they would keep the output open.
      detached: options.timeout !== undefined,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const killGroup = (): void => {
      stderr += `\nkilled after ${options.timeout} ms`;
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    const timer = options.timeout === undefined ? undefined : setTimeout(killGroup, options.timeout);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 137, stdout, stderr });
    });
    // A program that does not read its input closes the pipe early; its exit code tells the story then.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
  });
}

/** Like {@link runCommand}, but a non-zero exit code is an error that carries the program's own words. Gives back stdout. */
export async function mustRun(file: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code !== 0) throw new Error(`${file} ${args.join(" ")}: exit code ${code}\n${stderr.trim() || stdout.trim()}`);
  return stdout;
}
