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
  #process: ChildProcess | undefined;
  #output = "";

  private constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
  }

  /** Starts it and waits until it works; `webhooks` is an address that the cluster's kube-apiserver reaches this machine at. */
  static async start(kubeconfig: string, webhooks: string): Promise<CapstanManager> {
    const manager = new CapstanManager(kubeconfig);
    const options = ["--kubeconfig", kubeconfig, "--data", manager.dataDir, "--webhook-listen", webhooks];
    const child = spawn(process.execPath, [CLI, "manager", ...options], { stdio: ["ignore", "pipe", "pipe"] });
    manager.#process = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        manager.#output += chunk.toString();
      });
    await eventually("capstan manager", async () => {
      if (child.exitCode !== null) throw new Error(`capstan manager ended with ${child.exitCode}: ${manager.#output}`);
      return manager.#output.includes("Controllers run on");
    });
    return manager;
  }

  kubectl(...args: string[]): Promise<string> {
    return this.kubectlWithInput("", ...args);
  }

  kubectlWithInput(input: string, ...args: string[]): Promise<string> {
    const common = ["--kubeconfig", this.#kubeconfig, "--cache-dir", join(this.dataDir, ".kube")];
    return mustRun(join(kubernetesBin(), "kubectl"), [...common, ...args], { input });
  }

  /** Stops the controllers; what they made stays. */
  async close(): Promise<void> {
    const child = this.#process;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGINT");
      await ended;
    }
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
