import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Shell } from "../../docs/shell.ts";
import { freePorts, kubernetesBin, mustRun, runCommand } from "../../real-kubernetes/index.ts";
import { eventually } from "../harness/index.ts";

export const CLI = fileURLToPath(new URL("../../../packages/cli/dist/main.js", import.meta.url));

const STDIO: StdioOptions = ["ignore", "pipe", "pipe"];

/** A `capstan up` as a user starts it: the built command in a process of its own. */
export class Capstan {
  readonly dataDir: string;
  readonly kubeconfig: string;
  readonly #spawn: () => ChildProcess;
  #process: ChildProcess | undefined;
  #output = "";

  private constructor(dataDir: string, start: () => ChildProcess) {
    this.dataDir = dataDir;
    this.kubeconfig = join(dataDir, "kubeconfig");
    this.#spawn = start;
  }

  /** `host` is where its API listens; hosts with an agent must be able to reach it. */
  static async start(nodeAddress: string, host = "127.0.0.1", more: readonly string[] = []): Promise<Capstan> {
    const [port = 0] = await freePorts(1, host);
    const dataDir = mkdtempSync(join(tmpdir(), "capstan-e2e-"));
    const where = ["--data", dataDir, "--listen", `${host}:${port}`, "--node-address", nodeAddress];
    const args = [CLI, "up", ...where, ...more];
    const capstan = new Capstan(dataDir, () => spawn(process.execPath, args, { stdio: STDIO }));
    await capstan.up();
    return capstan;
  }

  /** Started by a command that a page says, with its data where `capstan up` puts it in the reader's home. */
  static async typed(shell: Shell, command: string): Promise<Capstan> {
    const { dir: cwd, environment: env } = shell;
    const capstan = new Capstan(shell.dataDir, () =>
      spawn("bash", ["-c", `exec ${command}`], { cwd, env, stdio: STDIO }),
    );
    await capstan.up();
    return capstan;
  }

  /** Starts it (again) on the same data directory and waits until it says that it is up. */
  async up(): Promise<void> {
    this.#output = "";
    const child = this.#spawn();
    this.#process = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.#output += chunk.toString();
      });
    await eventually("capstan up", async () => {
      if (child.exitCode !== null) throw new Error(`capstan ended with ${child.exitCode}: ${this.#output}`);
      return this.#output.includes("Capstan is ready");
    });
  }

  /** Everything it printed since it was last started. */
  get output(): string {
    return this.#output;
  }

  /** kill -9: the programs it runs must not notice. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** What Ctrl-C does. */
  async interrupt(): Promise<void> {
    await this.#end("SIGINT");
  }

  /** kubectl against the management API. */
  kubectl(...args: string[]): Promise<string> {
    return mustRun(join(kubernetesBin(), "kubectl"), [
      "--kubeconfig",
      this.kubeconfig,
      "--cache-dir",
      join(this.dataDir, ".kube"),
      ...args,
    ]);
  }

  /** kubectl with text for its standard input. */
  kubectlWithInput(input: string, ...args: string[]): Promise<string> {
    return mustRun(
      join(kubernetesBin(), "kubectl"),
      ["--kubeconfig", this.kubeconfig, "--cache-dir", join(this.dataDir, ".kube"), ...args],
      { input },
    );
  }

  /** The capstan command against this instance. */
  async cli(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runCommand(process.execPath, [CLI, ...args, "--data", this.dataDir], {
      env: { KUBECONFIG: "" },
    });
    if (code !== 0) throw new Error(`capstan ${args.join(" ")}: exit code ${code}\n${stderr}`);
    return stdout;
  }

  /** Stops everything and removes the data. */
  async close(): Promise<void> {
    await this.interrupt();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }
}
