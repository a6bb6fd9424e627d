import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { InstallError } from "./install-error.ts";

const run = promisify(execFile);
const PATIENCE_MS = 10_000;

/** Returns an error when a kube-apiserver reports another version than the one it is to be installed as, or does not run here. */
export async function versionProblem(program: string, version: string): Promise<InstallError | undefined> {
  let output: string;
  try {
    output = (await run(program, ["--version"], { timeout: PATIENCE_MS })).stdout;
  } catch (error) {
    const cause = error as { code?: unknown; message: string };
    if (cause.code !== "ENOEXEC") return undefined;
    return new InstallError(
      `${program} does not run on this machine`,
      "specify a directory with binaries built for it",
    );
  }
  const actual = /^Kubernetes (v[^\s+]+)/.exec(output)?.[1];
  if (actual === undefined || actual === version) return undefined;
  return new InstallError(
    `${program} is ${actual}, not ${version}`,
    `install it under its own version: capstan kubernetes install ${actual} --from DIR`,
  );
}
