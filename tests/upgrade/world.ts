import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import {
  type KubeObject,
  parseYamlDocuments,
  seededRandom,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { type ApiServer, createApiServer, openLmdbStore } from "@capstan/apiserver";
import { Machine } from "@capstan/capi";
import { KINDS, kindRules, type Manager, managerTransport, simulatedHosts, startManager } from "@capstan/manager";
import { Client, type Kind, type Logger } from "@capstan/runtime";
import { cluster, infraCluster, metaCluster, templates } from "../simulation/manifests.ts";

/** `record.mjs` copies this file into the tree of an earlier commit: it uses only what both have. */

const STEP_MS = 200;
/** Keys are made in threads, in real time: they finish before virtual time continues. */
const REAL_MS = 2;
/** When the recorded world begins. */
const BEGIN_MS = Date.UTC(2026, 0, 1);
/** Port of the embedded control plane: below those that Linux gives to clients, so that it is free when the test runs. */
const PORT = 23_443;

const member = (name: string, kind: string): string => `
  - name: ${name}
    infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: ${kind}, name: ${name} }
    bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: ${name} } }`;

/** A mixed cluster: an embedded control plane, and a WorkerPool over bare metal and own hosts. */
const WORLD = `${
  cluster("c1", "MetaCluster") +
  metaCluster("c1", ["ByoCluster", "Metal3Cluster"]) +
  infraCluster("byoh", "c1") +
  infraCluster("metal3", "c1") +
  templates("metal3", "metal") +
  templates("byoh", "own")
}
---
apiVersion: capstan.dev/v1alpha1
kind: WorkerPool
metadata: { name: general, namespace: default }
spec:
  clusterName: c1
  replicas: 3
  strategy: Ordered
  template: { spec: { version: v1.34.4 } }
  members:${member("metal", "Metal3MachineTemplate")}${member("own", "ByoMachineTemplate")}
`;

/** A management plane in virtual time over a data directory. */
export class World {
  static readonly beginMs = BEGIN_MS;
  static readonly recordedFiles = recordedFiles;
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly #server: ApiServer;
  readonly #dataDir: string;
  readonly #log: Logger;
  #manager: Manager | undefined;

  private constructor(clock: VirtualClock, server: ApiServer, dataDir: string, log: Logger) {
    this.clock = clock;
    this.client = new Client(server.admin(), { fieldManager: "user", clock });
    this.#server = server;
    this.#dataDir = dataDir;
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

  async startManager(): Promise<void> {
    this.#manager = await startManager({
      transport: await managerTransport(this.#server, this.clock),
      kinds: "in-process",
      dataDir: this.#dataDir,
      clock: this.clock,
      random: seededRandom(2),
      log: this.#log,
    });
  }

  /** Creates the recorded objects, and waits until all machines run and nothing is in progress any more. */
  async build(): Promise<void> {
    const listener = join(this.#dataDir, "embedded/shared/listener");
    await mkdir(listener, { recursive: true });
    await writeFile(join(listener, "ports.json"), JSON.stringify({ api: PORT }));
    await this.startManager();
    for (const object of simulatedHosts({ namespace: "default", own: 1, metal: 2 })) await this.client.create(object);
    for (const object of parseYamlDocuments(WORLD) as Unstructured[]) await this.client.create(object);
    await this.until(async () => {
      const machines = await this.list(Machine);
      return machines.length === 3 && machines.every(({ status }) => status?.phase === "Running");
    });
    await this.pass(60_000);
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

/** Returns the path of the database in a data directory, and all other files that outlive a process. */
async function recordedFiles(dataDir: string): Promise<{ database: string; files: Record<string, string> }> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dataDir, join(entry.parentPath, entry.name)));
  const database = paths.find((path) => DATABASE.test(path));
  if (database === undefined) throw new Error(`no database in ${dataDir}`);
  const files: Record<string, string> = {};
  for (const path of paths.toSorted())
    if (path.endsWith(".json")) files[path] = await readFile(join(dataDir, path), "utf8");
  return { database, files };
}
