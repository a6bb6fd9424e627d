import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

/** How to start one long-running program. */
export interface ComponentSpec {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Throws or gives false until the program serves. */
  readonly ready: () => Promise<boolean>;
  /** Milliseconds until {@link Component.start} gives up; 60 s by default. */
  readonly readyTimeout?: number;
}

/** A program that runs next to the test, can be killed and started again, and dies with the test's process. */
export class Component {
  readonly #spec: ComponentSpec;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();

  constructor(spec: ComponentSpec) {
    this.#spec = spec;
  }

  /** The file that receives the program's output, appended over restarts. */
  get logFile(): string {
    return this.#spec.logFile;
  }

  /** The process id, undefined while it does not run. */
  get pid(): number | undefined {
    const child = this.#child;
    return child === undefined || child.exitCode !== null || child.signalCode !== null ? undefined : child.pid;
  }

  /** Starts the program without waiting until it serves. */
  spawn(): void {
    if (this.pid !== undefined) throw new Error(`${this.#spec.name} runs already (process ${this.pid})`);
    const log = openSync(this.#spec.logFile, "a");
    // setpriv makes the kernel kill the program when its starter dies, whatever the reason; it replaces itself, the pid stays.
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", this.#spec.file, ...this.#spec.args], {
      stdio: ["ignore", log, log],
      env: { ...process.env, ...this.#spec.env },
    });
    closeSync(log);
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
  }

  /** Waits until the program serves; fails early with its last words if it exits. */
  async untilReady(): Promise<void> {
    const { name, ready, readyTimeout = 60_000 } = this.#spec;
    const deadline = Date.now() + readyTimeout;
    for (;;) {
      if (await ready().catch(() => false)) return;
      if (this.pid === undefined) throw new Error(`${name} has exited:\n${this.lastLines()}`);
      if (Date.now() > deadline) throw new Error(`${name} was not ready in ${readyTimeout} ms:\n${this.lastLines()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Starts the program and waits until it serves. */
  async start(): Promise<void> {
    this.spawn();
    await this.untilReady();
  }

  /** Sends a signal and waits for the end; a program that ignores it is killed after the grace time. */
  async kill(signal: NodeJS.Signals = "SIGKILL", graceMs = 5000): Promise<void> {
    if (this.pid === undefined) return;
    this.#child?.kill(signal);
    const timer = setTimeout(() => this.#child?.kill("SIGKILL"), graceMs);
    await this.#exited;
    clearTimeout(timer);
  }

  /** Kills the program (as a power cut would, by default) and starts it again with the same arguments. */
  async restart(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.kill(signal);
    await this.start();
  }

  /** The end of the log, for error messages. */
  lastLines(count = 15): string {
    try {
      return readFileSync(this.#spec.logFile, "utf8").trimEnd().split("\n").slice(-count).join("\n");
    } catch {
      return "(no log)";
    }
  }
}
