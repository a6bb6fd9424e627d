import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@capstan/apimachinery";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { ROOT } from "./root.ts";

const PROGRAM = join(ROOT, "packages/cli/dist/main.js");
const START_MS = 120_000;

/** `capstan up` as a person runs it: another process, on loopback, with a data directory of its own. */
export class Instance {
  readonly dataDir: string;
  readonly port: number;
  #child: ChildProcess | undefined;
  #output = "";
  #client: { client: Client; close: () => Promise<void> } | undefined;

  private constructor(dataDir: string, port: number) {
    this.dataDir = dataDir;
    this.port = port;
  }

  /** Makes a data directory and starts on it. */
  static async start(...options: string[]): Promise<Instance> {
    const instance = new Instance(await mkdtemp(join(tmpdir(), "capstan-browser-")), await freePort());
    await instance.up(...options);
    return instance;
  }

  /** What the program has printed since it was started last. */
  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port + 1}`;
  }

  /** The link that `capstan up` printed. */
  get link(): string {
    return /http:\S+\/sign-in#\S+/.exec(this.#output)?.[0] ?? "";
  }

  /** Starts the program, again after `down`; resolves when it says that it is up. */
  async up(...options: string[]): Promise<void> {
    this.#output = "";
    const api = `127.0.0.1:${this.port}`;
    const flags = ["--data", this.dataDir, "--listen", api, "--dashboard", `127.0.0.1:${this.port + 1}`];
    const child = spawn(process.execPath, [PROGRAM, "up", ...flags, ...options], { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`capstan up did not start:\n${this.#output}`)), START_MS);
      const read = (chunk: Buffer): void => {
        this.#output += chunk.toString("utf8");
        if (!/^Next:/m.test(this.#output)) return;
        clearTimeout(timer);
        resolve();
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.once("exit", (code) => reject(new Error(`capstan up ended with ${code}:\n${this.#output}`)));
    });
  }

  /** Ends the program as a power cut does, or politely. */
  async down(signal: "SIGKILL" | "SIGTERM" = "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    await this.#client?.close();
    this.#client = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  /** Runs another command against this instance. */
  async run(...words: string[]): Promise<void> {
    await promisify(execFile)(process.execPath, [PROGRAM, ...words, "--data", this.dataDir]);
  }

  /** A new link, as `capstan dashboard` prints it. */
  async newLink(): Promise<string> {
    const { requestSignInLink } = await import("@capstan/manager/instance");
    return (await requestSignInLink(this.dataDir)) ?? "";
  }

  /** Speaks to the API as the administrator. */
  async client(): Promise<Client> {
    if (this.#client === undefined) {
      const config = await loadKubeconfig({ clock: systemClock, path: join(this.dataDir, "kubeconfig") });
      const transport = httpTransport(config, { clock: systemClock });
      const client = new Client(transport, { fieldManager: "browser-test", clock: systemClock });
      this.#client = { client, close: () => transport.close() };
    }
    return this.#client.client;
  }

  /** Stops it and removes its data. */
  async remove(): Promise<void> {
    await this.down();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** A port that was free a moment ago, with the one after it. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 20_000) * 2;
    if ((await isFree(port)) && (await isFree(port + 1))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
