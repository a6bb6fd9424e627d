import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import {
  type KubeObject,
  parseYamlDocuments,
  seededRandom,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { type ApiServer, createApiServer, openLmdbStore } from "@capstan/apiserver";
import { KINDS, kindRules, type Manager, managerTransport, startManager } from "@capstan/manager";
import type { ManagedProvider } from "@capstan/manager/providers";
import { Client, type Kind, type Logger } from "@capstan/runtime";
import { buildKubeadm } from "./kubeadm.ts";
import { buildMixed } from "./mixed.ts";

/** `record.mjs` copies this file into the tree of an earlier commit: it uses only what both have. */

const STEP_MS = 200;
/** Keys are made in threads, in real time: they finish before virtual time continues. */
const REAL_MS = 2;
/** When the recorded world begins. */
const BEGIN_MS = Date.UTC(2026, 0, 1);

/** A management plane in virtual time over a data directory. */
export class World {
  static readonly beginMs = BEGIN_MS;
  static readonly recordedFiles = recordedFiles;
  /** What `record.mjs` can record, by name. */
  static readonly builders = { mixed: buildMixed, kubeadm: buildKubeadm };
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly #server: ApiServer;
  readonly dataDir: string;
  readonly #log: Logger;
  #manager: Manager | undefined;

  private constructor(clock: VirtualClock, server: ApiServer, dataDir: string, log: Logger) {
    this.clock = clock;
    this.client = new Client(server.admin(), { fieldManager: "user", clock });
    this.#server = server;
    this.dataDir = dataDir;
    this.#log = log;
  }

  /** Opens the store of a data directory; nothing acts on it until the manager starts. */
  static async open(dataDir: string, nowMs: number, log: Logger): Promise<World> {
    const clock = new VirtualClock(nowMs);
    let running: ApiServer | undefined;
    const store = await openLmdbStore(join(dataDir, "store"), { clock });
    const random = seededRandom(1);
    const server = await createApiServer({ store, clock, random, ...kindRules(KINDS, () => running) });
    running = server;
    return new World(clock, server, dataDir, log);
  }

  /** Starts the manager, by default with the providers of this tree. */
  async startManager(providers?: readonly ManagedProvider[]): Promise<void> {
    this.#manager = await startManager({
      transport: await managerTransport(this.#server, this.clock),
      kinds: "in-process",
      dataDir: this.dataDir,
      clock: this.clock,
      random: seededRandom(2),
      log: this.#log,
      ...(providers === undefined ? {} : { providers }),
    });
  }

  /** Creates the objects of a manifest. */
  async apply(manifest: string): Promise<void> {
    for (const object of parseYamlDocuments(manifest) as Unstructured[]) await this.client.create(object);
  }

  async list<T extends KubeObject>(kind: Kind<T>): Promise<T[]> {
    return (await this.client.list(kind, { namespace: "default" })).items;
  }

  async until(reached: () => Promise<boolean>): Promise<void> {
    for (let steps = 0; steps < 3000; steps++) {
      if (await reached()) return;
      await this.pass(STEP_MS);
    }
    throw new Error("never reached");
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await this.clock.advance(STEP_MS);
      await new Promise((resolve) => setTimeout(resolve, REAL_MS));
    }
  }

  async close(): Promise<void> {
    await this.#manager?.stop();
    await this.#server.close();
  }
}

const DATABASE = /(^|\/)data\.mdb$/;

/** Returns the paths of the databases in a data directory, and all other files that outlive a process. */
async function recordedFiles(dataDir: string): Promise<{ databases: string[]; files: Record<string, string> }> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dataDir, join(entry.parentPath, entry.name)))
    .toSorted();
  const databases = paths.filter((path) => DATABASE.test(path));
  if (databases.length === 0) throw new Error(`no database in ${dataDir}`);
  const files: Record<string, string> = {};
  for (const path of paths) if (path.endsWith(".json")) files[path] = await readFile(join(dataDir, path), "utf8");
  return { databases, files };
}
