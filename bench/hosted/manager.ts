import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "@capstan/tests/real-kubernetes";
import { Management } from "./client.ts";

const CLI = fileURLToPath(new URL("../../../packages/cli/dist/main.js", import.meta.url));

/** A `capstan up` in a process of its own, as users start it. */
export class ManagerProcess {
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  readonly api: Management;

  private constructor(child: ChildProcess, dataDir: string, api: Management) {
    this.#child = child;
    this.#dataDir = dataDir;
    this.api = api;
  }

  static async start(): Promise<ManagerProcess> {
    const dataDir = mkdtempSync(join(tmpdir(), "capstan-bench-"));
    const [port = 0] = await freePorts(1);
    const child = spawn(process.execPath, [CLI, "up", "--data", dataDir, "--listen", `127.0.0.1:${port}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`capstan up ended with ${code}`)));
      child.stdout?.on("data", (chunk: Buffer) => {
        if (chunk.toString().includes("Capstan is ready")) resolve();
      });
    });
    return new ManagerProcess(child, dataDir, await Management.connect(join(dataDir, "kubeconfig")));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Stops it as Ctrl-C does, and deletes the data. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGINT");
    await ended;
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}
