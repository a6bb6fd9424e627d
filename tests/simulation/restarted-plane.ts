import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseYamlDocuments, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore, type SharedStores, type Store } from "@capstan/apiserver";
import { KINDS, kindRules, type Manager, managerTransport, startManager } from "@capstan/manager";
import { Client, type Logger, silentLogger } from "@capstan/runtime";

const STEP_MS = 200;
const LONG_STEP_MS = 5_000;
/** Keys are made in threads, in real time: they finish before virtual time continues. */
const REAL_MS = 2;

/** One life of the process. */
interface Life {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly manager: Manager;
  /** Once cut, nothing of this life reaches a store any more. */
  cut: boolean;
}

/** A management plane over stores that outlive it: it can be stopped, and it can be killed at any moment. */
export class RestartedPlane {
  /** What was logged as an error or a warning, in all lives. */
  readonly complaints: string[] = [];
  readonly #management = memoryStore();
  readonly #embedded = new Map<string, { identity: string; store: Store }>();
  readonly #dataDir: string;
  #nowMs = Date.UTC(2026, 0, 1);
  #lives = 0;
  #life: Life | undefined;

  private constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  static async start(): Promise<RestartedPlane> {
    const plane = new RestartedPlane(await mkdtemp(join(tmpdir(), "capstan-restarts-")));
    await plane.#begin();
    return plane;
  }

  get client(): Client {
    const { server, clock } = this.#now();
    return new Client(server.admin(), { fieldManager: "user", clock });
  }

  async apply(manifest: string): Promise<void> {
    const { client } = this;
    for (const object of parseYamlDocuments(manifest) as Unstructured[]) await client.create(object);
  }

  /** Everything that is stored of one embedded control plane, by key. */
  async contentOf(owner: string): Promise<Map<string, string>> {
    const kept = this.#embedded.get(owner);
    if (kept === undefined) throw new Error(`${owner} has no store`);
    const { objects } = await kept.store.load();
    return new Map(objects.map(({ key, bytes }) => [key, Buffer.from(bytes).toString()]));
  }

  /** Everything that is stored of the management plane, by key. */
  async management(): Promise<Map<string, string>> {
    const { objects } = await this.#management.load();
    return new Map(objects.map(({ key, bytes }) => [key, Buffer.from(bytes).toString()]));
  }

  async pass(ms: number): Promise<void> {
    const { clock } = this.#now();
    const step = ms > 60_000 ? LONG_STEP_MS : STEP_MS;
    for (let passed = 0; passed < ms; passed += step) {
      await clock.advance(step);
      await new Promise((resolve) => setTimeout(resolve, REAL_MS));
    }
  }

  async until(what: string, reached: () => Promise<boolean>): Promise<void> {
    for (let steps = 0; steps < 3000; steps++) {
      if (await reached()) return;
      await this.pass(STEP_MS);
    }
    throw new Error(`${what}: never`);
  }

  /** `capstan down`, a while, `capstan up`; or `kill -9` instead of the first. */
  async restart(how: "stop" | "kill", awayMs: number): Promise<void> {
    const life = this.#now();
    if (how === "kill") life.cut = true;
    // Closes what the operating system would close with the process: sockets and files.
    await life.manager.stop();
    await life.server.close();
    life.cut = true;
    this.#nowMs = life.clock.now() + awayMs;
    await this.#begin();
  }

  async close(): Promise<void> {
    const life = this.#now();
    await life.manager.stop();
    await life.server.close();
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  async #begin(): Promise<void> {
    const clock = new VirtualClock(this.#nowMs);
    const random = seededRandom(100 + this.#lives++);
    const cut = (): boolean => life?.cut ?? false;
    const log = this.#log(cut);
    const report = (message: string, error: unknown): void => log.error(message, { error });
    let life: Life | undefined;
    let running: ApiServer | undefined;
    const server = await createApiServer({
      store: untilCut(this.#management, cut),
      clock,
      random,
      log: report,
      ...kindRules(KINDS, () => running),
    });
    running = server;
    const manager = await startManager({
      transport: await managerTransport(server, clock),
      kinds: "in-process",
      dataDir: this.#dataDir,
      embeddedStores: () => Promise.resolve(this.#stores(cut)),
      clock,
      random,
      log,
    });
    life = { clock, server, manager, cut: false };
    this.#life = life;
  }

  /** As openSharedStores() has them, without files. */
  #stores(cut: () => boolean): SharedStores {
    return {
      open: (name, identity) => {
        let kept = this.#embedded.get(name);
        if (kept?.identity !== identity) kept = { identity, store: memoryStore() };
        this.#embedded.set(name, kept);
        return Promise.resolve(untilCut(kept.store, cut));
      },
      remove: async (name) => {
        if (!cut()) this.#embedded.delete(name);
      },
      close: () => Promise.resolve(),
    };
  }

  #log(cut: () => boolean): Logger {
    const note = (level: string) => (message: string, fields?: object) => {
      const error = (fields as { error?: unknown } | undefined)?.error;
      // Failures while the process is being killed are not reported.
      if (!cut())
        this.complaints.push(`${level}: ${message} ${error instanceof Error ? error.message : String(error)}`);
    };
    const log: Logger = { ...silentLogger, error: note("error"), warn: note("warn"), with: () => log };
    return log;
  }

  #now(): Life {
    if (this.#life === undefined) throw new Error("it does not run");
    return this.#life;
  }
}

/** A store that stands for the disk: of a process that is dead nothing arrives. */
function untilCut(store: Store, cut: () => boolean): Store {
  return {
    load: () => store.load(),
    commit: (entries) => (cut() ? Promise.reject(new Error("the process is dead")) : store.commit(entries)),
    readAt: (revision, prefix) => store.readAt(revision, prefix),
    readLog: (revision) => store.readLog(revision),
    compact: (revision) => (cut() ? Promise.resolve() : store.compact(revision)),
    backup: (path) => store.backup(path),
    close: () => Promise.resolve(),
  };
}
