import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kubernetesBin, mustRun } from "../../real-kubernetes/index.ts";
import { eventually } from "../harness/index.ts";

const CLI = fileURLToPath(new URL("../../../packages/cli/dist/main.js", import.meta.url));

/** Where Cluster API objects are kept and worked on: what tests do there. */
export interface Management {
  readonly dataDir: string;
  kubectl(...args: string[]): Promise<string>;
  kubectlWithInput(input: string, ...args: string[]): Promise<string>;
}

/** A `capstan manager` on a management cluster that is a real Kubernetes: the built command in a process of its own. */
export class CapstanManager implements Management {
  readonly dataDir = mkdtempSync(join(tmpdir(), "capstan-manager-"));
  readonly #kubeconfig: string;
  readonly #webhooks: string;
  #process: ChildProcess | undefined;
  #output = "";

  private constructor(kubeconfig: string, webhooks: string) {
    this.#kubeconfig = kubeconfig;
    this.#webhooks = webhooks;
  }

  /** Starts it and waits until it works; `webhooks` is an address that the cluster's kube-apiserver reaches this machine at. */
  static async start(kubeconfig: string, webhooks: string): Promise<CapstanManager> {
    const manager = new CapstanManager(kubeconfig, webhooks);
    await manager.up();
    return manager;
  }

  /** Starts it (again) and waits until its controllers run. */
  async up(): Promise<void> {
    this.#output = "";
    const options = ["--kubeconfig", this.#kubeconfig, "--data", this.dataDir, "--webhook-listen", this.#webhooks];
    const child = spawn(process.execPath, [CLI, "manager", ...options], { stdio: ["ignore", "pipe", "pipe"] });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        this.#output += chunk.toString();
      });
    await eventually("capstan manager", async () => {
      if (child.exitCode !== null) throw new Error(`capstan manager ended with ${child.exitCode}: ${this.#output}`);
      return this.#output.includes("Controllers are running on");
    });
  }

  kubectl(...args: string[]): Promise<string> {
    return this.kubectlWithInput("", ...args);
  }

  kubectlWithInput(input: string, ...args: string[]): Promise<string> {
    const common = ["--kubeconfig", this.#kubeconfig, "--cache-dir", join(this.dataDir, ".kube")];
    return mustRun(join(kubernetesBin(), "kubectl"), [...common, ...args], { input });
  }

  /** Stops the controllers; what they made stays. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await ended;
  }

  /** Stops it and removes its own data. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
