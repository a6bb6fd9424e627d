/** A durable API with some of the controllers, so that a figure shows one part alone. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom, type Transport, type Unstructured } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, openLmdbStore } from "@capstan/apiserver";
import { Secret } from "@capstan/capi";
import { KINDS, kindRules } from "@capstan/manager";
import { Cache, Client, type Controller, silentLogger, silentRecorder, startControllers } from "@capstan/runtime";

const IN_FLIGHT = 50;
const LOOK_MS = 20;

/** The controllers that run. */
export interface Part {
  addIndexes(cache: Cache): void;
  controllers(): Controller[];
}

/** One API and the controllers of a figure. */
export class World {
  readonly server: ApiServer;
  /** As a user of the API: its writes are not counted. */
  readonly client: Client;
  writes = 0;
  readonly #dir: string;
  #stop: (() => Promise<void>) | undefined;

  private constructor(server: ApiServer, dir: string) {
    this.server = server;
    this.#dir = dir;
    this.client = new Client(server.admin(), { fieldManager: "bench", clock: systemClock });
  }

  static async start(): Promise<World> {
    const dir = mkdtempSync(join(tmpdir(), "capstan-mixed-"));
    const clock = systemClock;
    let running: ApiServer | undefined;
    const server = await createApiServer({
      store: await openLmdbStore(join(dir, "store"), { clock }),
      clock,
      random: systemRandom,
      ...kindRules(KINDS, () => running),
    });
    running = server;
    await server.registerCrds(KINDS.map((kind) => kind.crd()));
    return new World(server, dir);
  }

  /** Starts controllers and returns when their caches are synced. */
  run(part: Part): void {
    const inner = this.server.admin();
    const counted: Transport = {
      request: (request, signal) => {
        if (request.method !== "GET") this.writes++;
        return inner.request(request, signal);
      },
      watch: (request, signal) => inner.watch(request, signal),
      close: () => inner.close(),
    };
    const client = new Client(counted, { fieldManager: "capstan", clock: systemClock });
    const cache = new Cache(client, { clock: systemClock, random: systemRandom, log: silentLogger });
    cache.informer(Secret);
    part.addIndexes(cache);
    const stop = new AbortController();
    const deps = { cache, clock: systemClock, random: systemRandom, log: silentLogger, recorder: silentRecorder };
    const running = startControllers(part.controllers(), deps, stop.signal);
    this.#stop = async () => {
      stop.abort(new Error("the figure is measured"));
      await running.finished;
      await cache.stop();
    };
  }

  async create(objects: readonly Unstructured[]): Promise<void> {
    await each(objects, async (object) => {
      await this.client.create(object);
    });
  }

  /** Gives objects a status, as their own controllers would. */
  async report(objects: readonly Unstructured[], status: (object: Unstructured) => object): Promise<void> {
    await each(objects, async (object) => {
      await this.client.patchStatus(object, { status: status(object) });
    });
  }

  async until(reached: () => boolean): Promise<void> {
    while (!reached()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }

  /** Returns when nothing has been written for a while. */
  async untilQuiet(): Promise<void> {
    for (let last = -1; last !== this.writes; ) {
      last = this.writes;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  async close(): Promise<void> {
    await this.#stop?.();
    await this.server.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/** An object in the default namespace. */
export function objectOf(
  kind: { apiVersion: string; kind: string },
  name: string,
  spec: object,
  more = {},
): Unstructured {
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { namespace: "default", name, ...more }, spec };
}
