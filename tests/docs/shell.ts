import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, open, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheDir, defaultKubernetesVersion } from "../real-kubernetes/index.ts";
import { root } from "./blocks.ts";

/** The kubectl that `npm run kubernetes` builds, or the system's; undefined when there is none. */
export const KUBECTL = [
  join(cacheDir(), "kubernetes", defaultKubernetesVersion, "bin/kubectl"),
  "/usr/local/bin/kubectl",
  "/usr/bin/kubectl",
].find((file) => existsSync(file));

/** Runs commands of pages as a person types them: one after the other, in a home of their own, next to the checkout's docs. */
export class Shell {
  readonly dir: string;
  readonly #groups: number[] = [];
  /** What the reader has exported before. */
  readonly #known: Record<string, string> = {};

  private constructor(dir: string) {
    this.dir = dir;
  }

  /** `program` is the built or bundled command; `dataDir` is of an instance that already runs, as if it had been started here. */
  static async make(program: string, dataDir?: string): Promise<Shell> {
    const dir = await mkdtemp(join(tmpdir(), "capstan-docs-"));
    const bin = join(dir, "bin");
    await mkdir(bin);
    for (const folder of ["docs", "tests"]) await symlink(join(root, folder), join(dir, folder));
    const script = async (name: string, line: string): Promise<void> => {
      await writeFile(join(bin, name), `#!/bin/sh\nexec ${line}\n`);
      await chmod(join(bin, name), 0o755);
    };
    await script("capstan", `"${process.execPath}" "${program}" "$@"`);
    // In a checkout npx finds the command next to it.
    await script("npx", '"$@"');
    if (KUBECTL !== undefined) await symlink(KUBECTL, join(bin, "kubectl"));
    const shell = new Shell(dir);
    if (dataDir !== undefined) {
      await mkdir(join(shell.dataDir, ".."), { recursive: true });
      await symlink(dataDir, shell.dataDir);
      shell.#known["KUBECONFIG"] = join(dataDir, "kubeconfig");
    }
    return shell;
  }

  /** Where `capstan up` keeps its data by default. */
  get dataDir(): string {
    return join(this.dir, ".local/share/capstan");
  }

  get environment(): Record<string, string | undefined> {
    const { KUBECONFIG: _, XDG_DATA_HOME: __, ...rest } = process.env;
    return {
      ...rest,
      PATH: `${join(this.dir, "bin")}:${process.env["PATH"]}`,
      HOME: this.dir,
      NO_COLOR: "1",
      ...this.#known,
    };
  }

  /** What a script exported is there in the next one of the same page. */
  async run(page: string, script: string): Promise<{ code: number; output: string; errors: string }> {
    const memory = join(this.dir, `${page.replaceAll("/", "-")}.env`);
    const text = `[ ! -f "${memory}" ] || . "${memory}"\n${script}\nexport -p > "${memory}"\n`;
    // Files and not pipes: a program that keeps running in the background keeps them open.
    const files = [join(this.dir, "stdout"), join(this.dir, "stderr")] as const;
    const [output, errors] = [await open(files[0], "w"), await open(files[1], "w")];
    try {
      const shell = spawn("bash", ["-euo", "pipefail", "-c", text], {
        env: this.environment,
        cwd: this.dir,
        stdio: ["ignore", output.fd, errors.fd],
        detached: true,
      });
      this.#groups.push(shell.pid ?? 0);
      const code = await new Promise<number>((resolve) => shell.once("exit", (status) => resolve(status ?? 1)));
      return { code, output: await readFile(files[0], "utf8"), errors: await readFile(files[1], "utf8") };
    } finally {
      await output.close();
      await errors.close();
    }
  }

  /** Ends what still runs in the background and removes everything. */
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
