import {
  type KubeObject,
  ownerReference,
  seededRandom,
  sleep,
  type Transport,
  type Unstructured,
  VirtualClock,
  type WatchEvent,
} from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { afterEach, describe, expect, test } from "vitest";
import { Cache } from "../cache/cache.ts";
import { Client } from "../client/client.ts";
import { silentRecorder } from "../events/recorder.ts";
import { kindRef } from "../kind.ts";
import type { Logger } from "../log/logger.ts";
import { silentLogger } from "../log/logger.ts";
import { controller } from "./builder.ts";
import type { Controller } from "./controller.ts";
import { FairScheduler } from "./fair-scheduler.ts";
import { generationChanged, ignoreStatus, labelsChanged, objectsWhere } from "./predicate.ts";
import { done, requeueAfter, soonest, TerminalError } from "./result.ts";
import { startControllers } from "./start-controllers.ts";

interface ConfigMapObject extends KubeObject {
  data?: Record<string, string>;
}

const ConfigMap = kindRef<ConfigMapObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
const Secret = kindRef({ group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true });
const Late = kindRef({ group: "", version: "v1", kind: "Service", plural: "services", namespaced: true });
const namespace = "default";
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  controllers: (requests: Counter) => Controller[],
  log: Logger = silentLogger,
  existing: ConfigMapObject[] = [],
  clock = new VirtualClock(),
  scheduler = new FairScheduler(clock),
) {
  const random = seededRandom(1);
  const server = await createApiServer({ store: memoryStore(), clock, random, controllers: false });
  const requests = new Counter(server.admin());
  const cache = new Cache(new Client(requests, { fieldManager: "x", clock }), { clock, random });
  cache.restrict(ConfigMap, { namespace });
  const user = new Client(server.admin(), { fieldManager: "user", clock });
  for (const object of existing) await user.create(object);
  const stop = new AbortController();
  const running = startControllers(
    controllers(requests),
    { cache, clock, random, log, recorder: silentRecorder, scheduler },
    stop.signal,
  );
  cleanups.push(
    () => server.close(),
    () => cache.stop(),
    async () => stop.abort(),
  );
  await clock.advance(1);
  return { clock, server, cache, user, stop, running, requests };
}

/** Counts what controllers ask of the server. */
class Counter implements Transport {
  reads = 0;
  writes = 0;
  /** Keeps watch events back. */
  lag: ((signal?: AbortSignal) => Promise<void>) | undefined;
  readonly #inner: Transport;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  request(...args: Parameters<Transport["request"]>): ReturnType<Transport["request"]> {
    if (args[0].method === "GET") this.reads++;
    else this.writes++;
    return this.#inner.request(...args);
  }

  async *watch(...args: Parameters<Transport["watch"]>): AsyncGenerator<WatchEvent> {
    for await (const event of this.#inner.watch(...args)) {
      await this.lag?.(args[1]);
      yield event;
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

function configMap(name: string, data: Record<string, string> = {}, metadata: object = {}): ConfigMapObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name, ...metadata }, data };
}

describe("a controller", () => {
  test("requeues a reconcile that reads an unsynced kind once it is synced, and logs nothing", async () => {
    const errors: string[] = [];
    const log: Logger = { ...silentLogger, error: (message) => errors.push(message), with: () => log };
    const reconciled = new Set<string>();
    const make = (): Controller[] => [
      controller("eager")
        .for(ConfigMap)
        // Whichever kind is listed first, one of these reads too early.
        .watches(ConfigMap, (object, cache) => [
          { namespace, name: `${object.metadata.name}-${cache.list(Secret).length}` },
        ])
        .watches(Secret, (object, cache) => [
          { namespace, name: `${object.metadata.name}-${cache.list(ConfigMap).length}` },
        ])
        .reconcile(async ({ name }, { cache }) => {
          cache.list(Late);
          reconciled.add(name);
          return done();
        }),
      controller("late")
        .for(Late)
        .reconcile(async () => done()),
    ];
    const existing = [configMap("a"), { ...configMap("s"), kind: "Secret" }];
    const { clock } = await start(make, log, existing);
    await clock.advance(2000);
    expect(errors).toEqual([]);
    expect([...reconciled].sort()).toEqual(expect.arrayContaining(["a", "a-1", "s-1"]));
  });

  test("creates and repairs owned objects, and is silent when there is nothing to do", async () => {
    const reconciled: string[] = [];
    const { clock, user, requests, running, server } = await start(() => [
      controller("secrets")
        .for(ConfigMap)
        .owns(Secret)
        .reconcile(async ({ name }, { client, cache }) => {
          reconciled.push(name);
          const owner = cache.get(ConfigMap, { namespace, name });
          if (owner === undefined) return done();
          const secret: Unstructured = {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { namespace, name, ownerReferences: [ownerReference(owner, { controller: true })] },
            stringData: { from: owner.data?.["value"] ?? "" },
          };
          const { stringData, ...rest } = secret;
          const data = { from: Buffer.from((stringData as { from: string }).from).toString("base64") };
          await client.ensure({ ...rest, data }, cache.get(Secret, { namespace, name }));
          return done();
        }),
    ]);
    await user.create(configMap("a", { value: "1" }));
    await clock.advance(10);
    const read = async (): Promise<unknown> => (await user.get(Secret, { namespace, name: "a" }))?.["data"];
    expect(await read()).toEqual({ from: "MQ==" });
    await user.patch({ kind: Secret, namespace, name: "a" }, { data: { from: "Mg==" } });
    await clock.advance(10);
    expect(await read()).toEqual({ from: "MQ==" });
    expect(new Set(reconciled)).toEqual(new Set(["a"]));
    expect(running.idle()).toBe(true);

    const before = { reads: requests.reads, writes: requests.writes, reconciles: reconciled.length };
    await clock.advance(24 * 60 * 60_000);
    expect({ reads: requests.reads, writes: requests.writes, reconciles: reconciled.length }).toEqual(before);
    const managers = (await user.get(Secret, { namespace, name: "a" }))?.metadata.managedFields;
    expect(managers?.map(({ manager, operation }) => `${manager} ${operation}`)).toContain("capstan-secrets Apply");
    expect(server.registry.types().length).toBeGreaterThan(0);
  });

  test("reads its own writes in the next reconcile, however late the watch is", async () => {
    const problems: string[] = [];
    const { clock, user, server, requests } = await start(() => [
      controller("counter")
        .for(ConfigMap)
        .reconcile(async (request, { client, cache }) => {
          const object = cache.get(ConfigMap, request);
          if (object === undefined) return done();
          const live = await client.get(ConfigMap, request);
          if (live?.metadata.resourceVersion !== object.metadata.resourceVersion) problems.push("stale read");
          const count = Number(object.data?.["count"] ?? "0");
          if (count < 20) await client.patch(object, { data: { count: String(count + 1) } });
          return done();
        }),
    ]);
    requests.lag = (signal) => sleep(clock, 500, signal);
    await user.create(configMap("a"));
    await clock.advance(600);
    const admin = new Client(server.admin(), { fieldManager: "x", clock });
    expect((await admin.get(ConfigMap, { namespace, name: "a" }))?.data).toEqual({ count: "20" });
    expect(problems).toEqual([]);
  });

  test("processes changes before objects that existed at startup", async () => {
    const order: string[] = [];
    let release: (() => void) | undefined;
    const before = configMap("first");
    const { clock, user } = await start(
      () => [
        controller("priority")
          .for(ConfigMap)
          .reconcile(async ({ name }) => {
            order.push(name);
            if (order.length === 1) {
              await new Promise<void>((resolve) => {
                release = resolve;
              });
            }
            return done();
          }),
      ],
      silentLogger,
      [before, configMap("second"), configMap("third")],
    );
    await user.create(configMap("fresh"));
    await clock.advance(1);
    release?.();
    await clock.advance(1);
    expect(order).toEqual(["first", "fresh", "second", "third"]);
  });

  test("retries errors with backoff, reports them, and starts over after success", async () => {
    const at: number[] = [];
    const logged: string[] = [];
    const log: Logger = { ...silentLogger, error: (message) => logged.push(message), with: () => log };
    let failing = true;
    const { clock, user } = await start(
      () => [
        controller("flaky")
          .for(ConfigMap)
          .reconcile(() => {
            at.push(clock.now());
            if (failing) throw new Error("not yet");
            return Promise.resolve(done());
          }),
      ],
      log,
    );
    await user.create(configMap("a"));
    await clock.advance(160);
    expect(at.slice(0, 6).map((time) => time - (at[0] ?? 0))).toEqual([0, 5, 15, 35, 75, 155]);
    expect(logged.length).toBe(6);
    failing = false;
    await clock.advance(1000);
    const count = at.length;
    failing = true;
    await user.patch({ kind: ConfigMap, namespace, name: "a" }, { data: { x: "1" } });
    await clock.advance(5);
    expect(at.length).toBe(count + 2);
  });

  test("a terminal error is not retried until the object changes", async () => {
    let reconciles = 0;
    const { clock, user } = await start(() => [
      controller("hopeless")
        .for(ConfigMap)
        .reconcile(() => {
          reconciles++;
          return Promise.reject(new TerminalError("spec makes no sense"));
        }),
    ]);
    await user.create(configMap("a"));
    await clock.advance(60 * 60_000);
    expect(reconciles).toBe(1);
    await user.patch({ kind: ConfigMap, namespace, name: "a" }, { data: { x: "1" } });
    await clock.advance(10);
    expect(reconciles).toBe(2);
  });

  test("requeueAfter comes back once, later results replace it", async () => {
    const at: number[] = [];
    const { clock, user } = await start(() => [
      controller("poll")
        .for(ConfigMap)
        .reconcile((request, { cache }) => {
          at.push(clock.now());
          return Promise.resolve(cache.get(ConfigMap, request)?.data?.["stop"] ? done() : requeueAfter(1000));
        }),
    ]);
    await user.create(configMap("a"));
    await clock.advance(2500);
    expect(at.map((time) => time - (at[0] ?? 0))).toEqual([0, 1000, 2000]);
    await user.patch({ kind: ConfigMap, namespace, name: "a" }, { data: { stop: "now" } });
    await clock.advance(60_000);
    expect(at).toHaveLength(4);
  });

  test("works on as many objects at a time as allowed, and never twice on one", async () => {
    const active = new Map<string, number>();
    let most = 0;
    const release: (() => void)[] = [];
    const { clock, user } = await start(() => [
      controller("parallel")
        .for(ConfigMap)
        .concurrency(3)
        .reconcile(async ({ name }) => {
          active.set(name, (active.get(name) ?? 0) + 1);
          expect(active.get(name)).toBe(1);
          most = Math.max(
            most,
            [...active.values()].reduce((sum, one) => sum + one, 0),
          );
          await new Promise<void>((resolve) => release.push(resolve));
          active.set(name, 0);
          return done();
        }),
    ]);
    for (let i = 0; i < 6; i++) await user.create(configMap(`m${i}`));
    await clock.advance(1);
    await user.patch({ kind: ConfigMap, namespace, name: "m0" }, { data: { again: "1" } });
    await clock.advance(1);
    expect(most).toBe(3);
    while (release.length > 0) {
      for (const go of release.splice(0)) go();
      await clock.advance(1);
    }
    expect(most).toBe(3);
  });

  test("watches map old and new objects, predicates filter, raw sources enqueue", async () => {
    const reconciled: string[] = [];
    let push: ((name: string) => void) | undefined;
    const { clock, user } = await start(() => [
      controller("mapped")
        .watches(ConfigMap, ({ data }) => (data?.["for"] === undefined ? [] : [{ namespace: "", name: data["for"] }]), {
          predicate: objectsWhere(({ metadata }) => metadata.name !== "ignored"),
        })
        .watchesRaw({
          start: (enqueue) => {
            push = (name) => enqueue({ namespace: "", name });
          },
        })
        .reconcile(({ name }) => {
          reconciled.push(name);
          return Promise.resolve(done());
        }),
    ]);
    await user.create(configMap("a", { for: "one" }));
    await user.create(configMap("ignored", { for: "three" }));
    await clock.advance(1);
    expect(reconciled).toEqual(["one"]);
    await user.patch({ kind: ConfigMap, namespace, name: "a" }, { data: { for: "two" } });
    await clock.advance(1);
    expect(reconciled.sort()).toEqual(["one", "one", "two"]);
    push?.("raw");
    await clock.advance(1);
    expect(reconciled).toContain("raw");
    reconciled.length = 0;
    await user.delete({ kind: ConfigMap, namespace, name: "ignored" });
    await user.delete({ kind: ConfigMap, namespace, name: "a" });
    await clock.advance(1);
    expect(reconciled).toEqual(["two"]);
  });

  test("a failing mapping loses its own event and nothing else", async () => {
    const reconciled: string[] = [];
    const { clock, user } = await start(() => [
      controller("failing")
        .for(ConfigMap)
        .watches(ConfigMap, () => {
          throw new TypeError("a mistake");
        })
        .reconcile(({ name }) => {
          reconciled.push(name);
          return Promise.resolve(done());
        }),
    ]);
    await user.create(configMap("a"));
    await user.create(configMap("b"));
    await clock.advance(1);
    expect(reconciled).toEqual(["a", "b"]);
  });

  test("leaves no timer behind when stopped", async () => {
    const { clock, user, stop, running, cache } = await start(() => [
      controller("poll")
        .for(ConfigMap)
        .reconcile(() => Promise.resolve(requeueAfter(2))),
    ]);
    await user.create(configMap("a"));
    await clock.advance(1);
    expect((clock.nextTimer() ?? 0) - clock.now()).toBeLessThanOrEqual(2);
    stop.abort();
    await running.finished;
    await cache.stop();
    await clock.advance(0);
    expect((clock.nextTimer() ?? Number.POSITIVE_INFINITY) - clock.now()).toBeGreaterThan(2);
  });

  test("watches kinds found at run time once, and stops watching them", async () => {
    const reconciled: string[] = [];
    const { clock, user, cache } = await start(() => [
      controller("dynamic")
        .for(ConfigMap)
        .reconcile(async ({ name }, context) => {
          reconciled.push(name);
          const kind = await context.client.mapper.preferred("", "Secret");
          await context.watch(kind, ({ metadata }) => [{ namespace, name: `by-${metadata.name}` }]);
          if (name === "stop") await context.unwatch(kind);
          return done();
        }),
    ]);
    await user.create(configMap("a"));
    await user.create(configMap("b"));
    await clock.advance(10);
    await user.create({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "s" } });
    await clock.advance(10);
    expect(reconciled.filter((name) => name === "by-s")).toHaveLength(1);
    await user.create(configMap("stop"));
    await clock.advance(10);
    expect(cache.synced(Secret)).toBe(false);
  });

  test("stops gracefully: running reconciles finish, queued ones do not start", async () => {
    const log: string[] = [];
    let finish: (() => void) | undefined;
    const { clock, user, stop, running } = await start(() => [
      controller("slow")
        .for(ConfigMap)
        .reconcile(async ({ name }) => {
          log.push(`begin ${name}`);
          await new Promise<void>((resolve) => {
            finish = resolve;
          });
          log.push(`end ${name}`);
          return done();
        }),
    ]);
    await user.create(configMap("a"));
    await user.create(configMap("b"));
    await clock.advance(1);
    let finished = false;
    void running.finished.then(() => {
      finished = true;
    });
    stop.abort();
    await clock.advance(1);
    expect(finished).toBe(false);
    finish?.();
    await clock.advance(1);
    expect(finished).toBe(true);
    expect(log).toEqual(["begin a", "end a"]);
  });
});

describe("predicates and results", () => {
  const before = configMap("a", { x: "1" }, { generation: 1, labels: { a: "1" }, resourceVersion: "1" });

  test.each([
    ["generation", generationChanged, { generation: 2 }, true],
    ["generation, status only", generationChanged, { resourceVersion: "2" }, false],
    ["generation, deletion mark", generationChanged, { deletionTimestamp: "now" }, true],
    ["labels", labelsChanged, { labels: { a: "2" } }, true],
    ["labels, same", labelsChanged, { labels: { a: "1" } }, false],
    ["ignoreStatus, bookkeeping", ignoreStatus, { resourceVersion: "2", managedFields: [] }, false],
    ["ignoreStatus, annotation", ignoreStatus, { annotations: { a: "" } }, true],
  ])("%s", (_, predicate, change, expected) => {
    const after = { ...before, status: { changed: true }, metadata: { ...before.metadata, ...change } };
    expect(predicate.update?.(after, before)).toBe(expected);
  });

  test("soonest takes the earliest", () => {
    expect(soonest(done(), requeueAfter(5), requeueAfter(3))).toEqual(requeueAfter(3));
    expect(soonest(done(), done())).toEqual(done());
  });
});

test("defers explanatory status changes under load, but not for long", async () => {
  const Node = kindRef<Unstructured>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
  const clock = new VirtualClock();
  /** Always under load. */
  class BusyScheduler extends FairScheduler {
    override holdMs(): number {
      return 500;
    }
  }
  let conditions = [{ type: "Ready", status: "False", reason: "Waiting", message: "one" }];
  let passes = 0;
  const { user } = await start(
    () => [
      controller("writer")
        .for(Node)
        .deferStatus({ explaining: new Set(["conditions"]), decisive: new Set(["Ready"]) })
        .reconcile(async ({ name }, context) => {
          passes++;
          const live = context.cache.get(Node, { name });
          if (live === undefined) return done();
          await context.ensureStatus(
            { apiVersion: "v1", kind: "Node", metadata: { name }, status: { conditions } },
            live,
          );
          return done();
        }),
    ],
    silentLogger,
    [],
    clock,
    new BusyScheduler(clock),
  );
  const written = async (): Promise<unknown> => {
    const node = await user.get(Node, { name: "n" });
    const { conditions: now } = (node?.["status"] ?? {}) as { conditions?: typeof conditions };
    return now?.map(({ status, message }) => `${status} ${message}`);
  };
  await user.create<Unstructured>({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
  await clock.advance(100);
  expect(await written()).toBeUndefined();
  await clock.advance(9000);
  expect(await written()).toBeUndefined();
  expect(passes).toBe(1);
  await clock.advance(2000);
  expect(await written()).toEqual(["False one"]);
  await clock.advance(1000);
  const before = passes;
  await clock.advance(60_000);
  expect(passes).toBe(before);
  conditions = [{ type: "Ready", status: "True", reason: "Ready", message: "" }];
  await user.patch({ kind: Node, name: "n" }, { metadata: { labels: { a: "b" } } });
  await clock.advance(600);
  expect(await written()).toEqual(["True "]);
});
