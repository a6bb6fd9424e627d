import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { KINDS, kindRules, type Manager, startManager } from "@capstan/manager";
import { Client, silentLogger } from "@capstan/runtime";
import { type CommandIo, runProgram } from "capstan";

/** What a command did. */
export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

/** A command that still runs. */
export interface RunningCommand {
  /** What it has printed so far. */
  out(): string;
  err(): string;
  interrupt(): void;
  ended: Promise<CommandResult>;
}

/** A whole management plane in memory and in virtual time, and the command line in front of it. */
export class CommandPlane {
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly #server: ApiServer;
  readonly #manager: Manager;
  readonly #dataDir: string;

  private constructor(clock: VirtualClock, server: ApiServer, manager: Manager, dataDir: string) {
    this.clock = clock;
    this.#server = server;
    this.#manager = manager;
    this.#dataDir = dataDir;
    this.client = new Client(server.admin(), { fieldManager: "user", clock });
  }

  static async start(): Promise<CommandPlane> {
    const dataDir = await mkdtemp(join(tmpdir(), "capstan-cli-"));
    const clock = new VirtualClock();
    const random = seededRandom(1);
    let running: ApiServer | undefined;
    const server = await createApiServer({ store: memoryStore(), clock, random, ...kindRules(KINDS, () => running) });
    running = server;
    const manager = await startManager({
      transport: server.admin(),
      kinds: "in-process",
      dataDir,
      // Virtual time does not wait for a disk.
      embeddedStores: "memory",
      clock,
      random,
      log: silentLogger,
    });
    return new CommandPlane(clock, server, manager, dataDir);
  }

  async stop(): Promise<void> {
    await this.#manager.stop();
    await this.#server.close();
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  /** Where commands go. */
  get target(): NonNullable<CommandIo["target"]> {
    return {
      client: new Client(this.#server.admin(), { fieldManager: "capstan-cli", clock: this.clock }),
      description: "the test's API",
      server: "https://test",
      caPem: "",
      close: () => Promise.resolve(),
    };
  }

  /** Begins a command; time moves on only by `run` and `until`. */
  begin(line: string | string[], over: Partial<CommandIo> = {}): RunningCommand {
    const interruption = new AbortController();
    let out = "";
    let err = "";
    const io: CommandIo = {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      env: { XDG_DATA_HOME: this.#dataDir, CAPSTAN_CACHE: this.#dataDir, HOME: this.#dataDir },
      interactive: false,
      clock: this.clock,
      interrupted: () => interruption.signal,
      target: this.target,
      ...over,
    };
    const args = typeof line === "string" ? line.split(" ").filter((word) => word !== "") : line;
    const ended = runProgram(args, io).then((code) => ({ code, out, err }));
    return { out: () => out, err: () => err, interrupt: () => interruption.abort(new Error("interrupted")), ended };
  }

  /** Runs a command to its end. */
  async run(line: string | string[], over: Partial<CommandIo> = {}): Promise<CommandResult> {
    const running = this.begin(line, over);
    let result: CommandResult | undefined;
    void running.ended.then((value) => {
      result = value;
    });
    await this.until(() => result !== undefined);
    return await running.ended;
  }

  /** Lets time pass until something is so. */
  async until(reached: () => boolean): Promise<void> {
    for (let i = 0; i < 3000; i++) {
      if (reached()) return;
      await this.clock.advance(200);
      // Keys are made in threads, in real time: let them finish before virtual time continues.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    throw new Error("it never came to pass");
  }
}

/** What chance and the machine's speed chose, the same for every run: names, minutes beyond the hour. */
export function withoutChance(text: string): string {
  const suffix = "-[bcdfghjklmnpqrstvwxz2456789]{5}";
  return text
    .replace(new RegExp(`${suffix}${suffix}\\b`, "g"), "-xxxxx-yyyyy")
    .replace(new RegExp(`${suffix}\\b`, "g"), "-xxxxx")
    .replace(/\b6\dm\b/g, "60m");
}
