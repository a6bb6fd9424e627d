import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDir, mustRun, runCommand } from "../../real-kubernetes/index.ts";
import { ensureHostPackage } from "./host.ts";
import { timed } from "./timing.ts";

/** Programs from PyPI in an environment of their own, made once; gives back its folder. `name` tells their version. */
export async function pythonPrograms(name: string, packages: readonly string[]): Promise<string> {
  const home = join(cacheDir(), "e2e", name);
  if (existsSync(join(home, "installed"))) return home;
  await timed(`${name} is installed`, async () => {
    // Debian's Python comes without what an environment begins with.
    if ((await runCommand("python3", ["-c", "import ensurepip"])).code !== 0) await ensureHostPackage("python3-venv");
    await mustRun("python3", ["-m", "venv", "--clear", home]);
    await mustRun(join(home, "bin/pip"), ["install", "--quiet", ...packages], { timeout: 300_000 });
    writeFileSync(join(home, "installed"), "");
  });
  return home;
}
