import { spawn } from "node:child_process";

/** Runs a program to its end. A failure is an error with the end of its output. */
export function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        if (stream === child.stdout) stdout += text;
        output = (output + text).slice(-4096);
      });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`${program} ${args[0] ?? ""} exited with code ${code ?? "137"}: ${output.trim()}`));
    });
  });
}
