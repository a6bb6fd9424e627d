import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom, type Unstructured } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { KINDS, kindRules, type Manager, type ManagerOptions, startManager } from "@capstan/manager";
import { Client, kindRef, silentLogger } from "@capstan/runtime";

const clock = systemClock;

/** A management plane with all controllers, in real time, and a tenant who may write objects in namespace default. */
export class TenantPlane {
  readonly tenant: Client;
  readonly #server: ApiServer;
  readonly #manager: Manager;
  readonly #dataDir: string;

  private constructor(server: ApiServer, manager: Manager, dataDir: string) {
    this.#server = server;
    this.#manager = manager;
    this.#dataDir = dataDir;
    this.tenant = new Client(server.admin(), { fieldManager: "tenant", clock });
  }

  static async start(options: Partial<ManagerOptions> = {}): Promise<TenantPlane> {
    const dataDir = await mkdtemp(join(tmpdir(), "capstan-attack-"));
    const random = systemRandom;
    let running: ApiServer | undefined;
    const server = await createApiServer({ store: memoryStore(), clock, random, ...kindRules(KINDS, () => running) });
    running = server;
    const base = { transport: server.admin(), kinds: "in-process", dataDir, clock, random, log: silentLogger } as const;
    return new TenantPlane(server, await startManager({ ...base, ...options }), dataDir);
  }

  async create(...objects: object[]): Promise<void> {
    for (const object of objects) await this.tenant.create(object as Unstructured);
  }

  /** An object as JSON, to be searched for words. */
  async text(apiVersion: string, kind: string, plural: string, name: string): Promise<string> {
    const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    const found = await this.tenant.get(kindRef({ group, version, kind, plural, namespaced: true }), {
      namespace: "default",
      name,
    });
    return JSON.stringify(found?.["status"] ?? {});
  }

  async close(): Promise<void> {
    await this.#manager.stop();
    await this.#server.close();
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}

/** Asks again until something is so: what controllers do has no end of its own to wait for. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not come`);
}
