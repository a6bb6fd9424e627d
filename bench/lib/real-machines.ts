import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The same figures of both ways, in seconds. */
export interface Compared<Name extends string> {
  readonly ours: Readonly<Record<Name, number>>;
  readonly peer: Readonly<Record<Name, number>>;
}

/** Runs a bench of tests/e2e, which makes real machines and prints a line FIGURE. Undefined without root. */
export function onRealMachines<Name extends string>(file: string): Compared<Name> | undefined {
  if (process.getuid?.() !== 0) {
    console.log("figures with real machines are left out: they need root");
    return undefined;
  }
  const args = ["run", "--config", "tests/e2e/bench.config.mjs", `tests/e2e/${file}`];
  const { stdout, status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", ...args], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = stdout.split("\n").find((each) => each.includes("FIGURE {"));
  if (status !== 0 || line === undefined) throw new Error(`the run with real machines failed:\n${stdout}`);
  return JSON.parse(line.slice(line.indexOf("{"))) as Compared<Name>;
}
