import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, open, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheDir, defaultKubernetesVersion } from "../real-kubernetes/index.ts";

/** The kubectl that `npm run kubernetes` builds, or the system's; undefined when there is none. */
export const KUBECTL = [
  join(cacheDir(), "kubernetes", defaultKubernetesVersion, "bin/kubectl"),
  "/usr/local/bin/kubectl",
  "/usr/bin/kubectl",
].find((file) => existsSync(file));

/** Runs the blocks of pages as a person types them: one after the other, in a home of their own, beside the checkout's docs. */
export class Shell {
  readonly dir: string;
  readonly #groups: number[] = [];

  private constructor(dir: string) {
    this.dir = dir;
  }

  /** `program` is the bundled command, `root` the checkout. */
  static async make(program: string, root: string): Promise<Shell> {
    const dir = await mkdtemp(join(tmpdir(), "capstan-docs-"));
    const bin = join(dir, "bin");
    await mkdir(bin);
    await symlink(join(root, "docs"), join(dir, "docs"));
    const script = async (name: string, line: string): Promise<void> => {
      await writeFile(join(bin, name), `#!/bin/sh\nexec ${line}\n`);
      await chmod(join(bin, name), 0o755);
    };
    await script("capstan", `"${process.execPath}" "${program}" "$@"`);
    // In a checkout npx finds the command beside it.
    await script("npx", '"$@"');
    if (KUBECTL !== undefined) await symlink(KUBECTL, join(bin, "kubectl"));
    return new Shell(dir);
  }

  get environment(): Record<string, string | undefined> {
    const { KUBECONFIG: _, ...rest } = process.env;
    return {
      ...rest,
      PATH: `${join(this.dir, "bin")}:${process.env["PATH"]}`,
      HOME: this.dir,
      XDG_DATA_HOME: this.dir,
      NO_COLOR: "1",
    };
  }

  /** What a script exported is there in the next one of the same page. Returns the exit code and what was said on stderr. */
  async run(page: string, script: string): Promise<{ code: number; errors: string }> {
    const memory = join(this.dir, `${page.replaceAll("/", "-")}.env`);
    const text = `[ ! -f "${memory}" ] || . "${memory}"\n${script}\nexport -p > "${memory}"\n`;
    const file = join(this.dir, "stderr");
    const said = await open(file, "w");
    try {
      const shell = spawn("bash", ["-euo", "pipefail", "-c", text], {
        env: this.environment,
        cwd: this.dir,
        // A file and not a pipe: a program that goes on in the background keeps it open.
        stdio: ["ignore", "ignore", said.fd],
        detached: true,
      });
      this.#groups.push(shell.pid ?? 0);
      const code = await new Promise<number>((resolve) => shell.once("exit", (status) => resolve(status ?? 1)));
      return { code, errors: await readFile(file, "utf8") };
    } finally {
      await said.close();
    }
  }

  /** Ends what goes on in the background and removes everything. */
  async close(): Promise<void> {
    for (const group of this.#groups)
      try {
        if (group > 0) process.kill(-group, "SIGKILL");
      } catch {
        // All of it has ended by itself.
      }
    await rm(this.dir, { recursive: true, force: true });
  }
}
