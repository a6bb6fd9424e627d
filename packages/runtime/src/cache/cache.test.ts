import {
  type ApiRequest,
  forbiddenField,
  invalid,
  type Random,
  randomInt,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { afterEach, describe, expect, test } from "vitest";
import { Client } from "../client/client.ts";
import { kindRef } from "../kind.ts";
import { type Faults, FaultyTransport } from "../testing/faulty-transport.ts";
import { Cache } from "./cache.ts";

const ConfigMap = kindRef({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: { seed?: number; faults?: Faults; watchList?: boolean } = {}) {
  const clock = new VirtualClock();
  const random = seededRandom(options.seed ?? 1);
  const server = await createApiServer({ store: memoryStore(), clock, random, controllers: false });
  const direct = new Client(server.admin(), { fieldManager: "other", clock });
  const faulty = new FaultyTransport(server.admin(), random, options.faults);
  const cache = cacheOver(faulty, clock, random, options.watchList ?? true);
  cleanups.push(
    () => server.close(),
    () => cache.stop(),
  );
  return { clock, random, direct, faulty, cache };
}

function cacheOver(transport: Transport, clock: VirtualClock, random: Random, watchList: boolean): Cache {
  const client = new Client(transport, { fieldManager: "cache", clock });
  const cache = new Cache(client, { clock, random, watchList });
  cache.restrict(ConfigMap, { namespace: "default" });
  return cache;
}

function configMap(name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}): Unstructured {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name, labels }, data };
}

const key = (name: string) => ({ namespace: "default", name });

describe("Cache", () => {
  test("holds existing objects and follows changes; objects are frozen and shared", async () => {
    const { clock, cache, direct } = await start();
    await direct.create(configMap("before"));
    cache.informer(ConfigMap);
    cache.start();
    expect(await cache.waitForSync()).toBe(true);
    await direct.create(configMap("after"));
    await clock.advance(1);
    expect(cache.list(ConfigMap).map(({ metadata }) => metadata.name)).toEqual(["before", "after"]);
    expect(Object.isFrozen(cache.get(ConfigMap, key("after"))?.metadata)).toBe(true);
    expect(cache.get(ConfigMap, key("after"))).toBe(cache.get(ConfigMap, key("after")));
    await direct.delete({ kind: ConfigMap, ...key("before") });
    await clock.advance(1);
    expect(cache.get(ConfigMap, key("before"))).toBeUndefined();
  });

  test("shows own writes when the promise resolves, whether or not the watch has delivered them", async () => {
    const { cache, faulty } = await start();
    cache.informer(ConfigMap);
    cache.start();
    await cache.waitForSync();
    faulty.down = true;
    faulty.down = false;
    const made = await cache.client.create(configMap("a"));
    expect(cache.get(ConfigMap, key("a"))?.metadata.uid).toBe(made.metadata.uid);
    await cache.client.patch(made, { data: { x: "1" } });
    expect(cache.get(ConfigMap, key("a"))?.["data"]).toEqual({ x: "1" });
    await cache.client.delete(made);
    expect(cache.get(ConfigMap, key("a"))).toBeUndefined();
  });

  test("shows own writes through selectors; an object that leaves the selection stays until the watch removes it", async () => {
    const { clock, cache } = await start();
    const Secret = kindRef({ group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true });
    cache.restrict(Secret, { labelSelector: "cluster" });
    cache.informer(Secret);
    cache.start();
    await cache.waitForSync();
    const secret = (name: string, labels: Record<string, string>): Unstructured => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name, labels },
    });
    const made = await cache.client.create(secret("in", { cluster: "c1" }));
    await cache.client.create(secret("out", {}));
    expect(cache.list(Secret).map(({ metadata }) => metadata.name)).toEqual(["in"]);
    await cache.client.patch(made, { metadata: { labels: { cluster: null } } });
    expect(cache.get(Secret, key("in"))?.metadata.labels ?? {}).toEqual({});
    await clock.advance(10);
    expect(cache.list(Secret)).toEqual([]);
  });

  test("reports the loss of the server and its return once each", async () => {
    const { clock, cache, faulty, direct } = await start();
    const informer = cache.informer(ConfigMap);
    const reports: string[] = [];
    const end = informer.onHealth((error) => reports.push(error === undefined ? "well" : "lost"));
    cache.start();
    await cache.waitForSync();
    faulty.down = true;
    await clock.advance(60_000);
    expect(reports).toEqual(["lost"]);
    faulty.down = false;
    while (informer.error !== undefined) await clock.advance(1000);
    await clock.advance(5000);
    expect(reports).toEqual(["lost", "well"]);
    await direct.create(configMap("a"));
    await clock.advance(10);
    expect(cache.get(ConfigMap, key("a"))).toBeDefined();
    end();
    faulty.down = true;
    await clock.advance(10);
    expect(reports).toEqual(["lost", "well"]);
  });

  test("rejects reads before the first list with an error that says what to do", async () => {
    const { cache } = await start();
    expect(() => cache.get(ConfigMap, key("a"))).toThrow(/is not in the cache: let the controller watch it/);
    cache.informer(ConfigMap);
    expect(() => cache.list(ConfigMap)).toThrow(/is not in the cache yet/);
  });

  test("indexes and selectors", async () => {
    const { clock, cache, direct } = await start();
    cache.addIndex(ConfigMap, "owner", ({ metadata }) => metadata.labels?.["owner"]);
    cache.start();
    await cache.waitForSync();
    await direct.create(configMap("a", {}, { owner: "x", tier: "1" }));
    const b = await direct.create(configMap("b", {}, { owner: "x", tier: "2" }));
    await clock.advance(1);
    const names = (objects: Unstructured[]): unknown[] => objects.map(({ metadata }) => metadata.name);
    expect(names(cache.byIndex(ConfigMap, "owner", "x"))).toEqual(["a", "b"]);
    expect(names(cache.list(ConfigMap, { labelSelector: "tier in (2,3)" }))).toEqual(["b"]);
    expect(names(cache.list(ConfigMap, { labelSelector: { matchLabels: { tier: "1" } } }))).toEqual(["a"]);
    await direct.patch(b, { metadata: { labels: { owner: "y" } } });
    await clock.advance(1);
    expect(names(cache.byIndex(ConfigMap, "owner", "x"))).toEqual(["a"]);
    expect(names(cache.byIndex(ConfigMap, "owner", "y"))).toEqual(["b"]);
    expect(() => cache.byIndex(ConfigMap, "nope", "x")).toThrow(/no index "nope"/);
  });

  test("stops a shared informer with its last user", async () => {
    const { clock, cache } = await start();
    cache.start();
    const one = cache.acquire(ConfigMap);
    const two = cache.acquire(ConfigMap);
    expect(one.informer).toBe(two.informer);
    await one.informer.waitForSync();
    await one.release();
    await one.release();
    expect(cache.synced(ConfigMap)).toBe(true);
    await two.release();
    expect(cache.synced(ConfigMap)).toBe(false);
    await clock.advance(1000);
    expect(cache.kinds()).toEqual([]);
  });

  test.each([
    [
      "refuses",
      (): never => {
        throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", [forbiddenField("sendInitialEvents", "no")]);
      },
    ],
    [
      "ignores",
      (request: ApiRequest): ApiRequest => ({
        ...request,
        query: { ...request.query, sendInitialEvents: undefined, resourceVersionMatch: undefined },
      }),
    ],
  ])("a server that %s WatchList is listed instead", async (_, treat) => {
    const clock = new VirtualClock();
    const random = seededRandom(1);
    const server = await createApiServer({ store: memoryStore(), clock, random, controllers: false });
    const inner = server.admin();
    const lists: string[] = [];
    const old: Transport = {
      request: (request, signal) => {
        lists.push(request.path);
        return inner.request(request, signal);
      },
      async *watch(request, signal) {
        yield* inner.watch(request.query?.["sendInitialEvents"] === undefined ? request : treat(request), signal);
      },
      close: () => inner.close(),
    };
    const cache = cacheOver(old, clock, random, true);
    cleanups.push(
      () => server.close(),
      () => cache.stop(),
    );
    const direct = new Client(inner, { fieldManager: "other", clock });
    await direct.create(configMap("a"));
    cache.informer(ConfigMap);
    cache.start();
    await clock.advance(35_000);
    expect(cache.get(ConfigMap, key("a"))).toBeDefined();
    expect(lists).toEqual(["/api/v1/namespaces/default/configmaps"]);
    await direct.create(configMap("b"));
    await clock.advance(10);
    expect(cache.get(ConfigMap, key("b"))).toBeDefined();
    expect(cache.problems()).toEqual([]);
  });

  test("reports a kind that is not served, and watches it once it is", async () => {
    const { clock, cache } = await start();
    const Thing = kindRef({ group: "x.io", version: "v1", kind: "Thing", plural: "things", namespaced: true });
    cache.start();
    const { informer } = cache.acquire(Thing);
    await expect(informer.syncedOrError()).rejects.toMatchObject({ code: 404 });
    expect(cache.problems()).toMatchObject([{ kind: { kind: "Thing" } }]);
    await cache.client.create({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.x.io" },
      spec: {
        group: "x.io",
        scope: "Namespaced",
        names: { kind: "Thing", listKind: "ThingList", plural: "things", singular: "thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    } as Unstructured);
    await clock.advance(60_000);
    expect(await informer.syncedOrError()).toBe(true);
    expect(cache.problems()).toEqual([]);
  });

  test("a quiet server gets no requests from a quiet cache", async () => {
    const { clock, cache, faulty } = await start();
    cache.informer(ConfigMap);
    cache.start();
    await cache.waitForSync();
    let requests = 0;
    const original = faulty.request.bind(faulty);
    faulty.request = (...args) => {
      requests++;
      return original(...args);
    };
    await clock.advance(60 * 60_000);
    expect(requests).toBe(0);
    expect(cache.problems()).toEqual([]);
  });
});

interface Seen {
  type: string;
  name: string;
  revision: number;
}

/** Writes at random for a while, as another client would, and records the expected history. */
async function writeAtRandom(direct: Client, random: Random, history: Seen[]): Promise<void> {
  const name = `o${randomInt(random, 6)}`;
  const live = await direct.get(ConfigMap, key(name));
  const note = (type: string, object: Unstructured): void => {
    history.push({ type, name, revision: Number(object.metadata.resourceVersion) });
  };
  if (live === undefined) note("add", await direct.create(configMap(name)));
  else if (randomInt(random, 4) === 0) {
    await direct.delete(live);
    history.push({ type: "delete", name, revision: 0 });
  } else note("update", await direct.patch(live, { data: { n: String(history.length) } }));
}

/** A server that is replaced behind the same address. */
function movable(first: Transport): Transport & { to(next: Transport): void } {
  let current = first;
  return {
    request: (request, signal) => current.request(request, signal),
    watch: (request, signal) => current.watch(request, signal),
    close: () => current.close(),
    to: (next) => {
      current = next;
    },
  };
}

describe("a server that comes back", () => {
  async function serverWith(clock: VirtualClock, names: string[]) {
    const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(3), controllers: false });
    cleanups.push(() => server.close());
    const direct = new Client(server.admin(), { fieldManager: "other", clock });
    for (const name of names) await direct.create(configMap(name));
    return { server, direct };
  }

  test.each([true, false])("empty, with lower revisions: the cache follows it (WatchList: %s)", async (watchList) => {
    const clock = new VirtualClock();
    const names = Array.from({ length: 50 }, (_, index) => `old-${index}`);
    const first = await serverWith(clock, ["same", ...names]);
    const transport = movable(first.server.admin());
    const cache = cacheOver(transport, clock, seededRandom(1), watchList);
    cleanups.push(() => cache.stop());
    cache.informer(ConfigMap);
    cache.start();
    await cache.waitForSync();
    expect(cache.list(ConfigMap)).toHaveLength(51);
    const second = await serverWith(clock, ["same", "new"]);
    const old = transport.close();
    transport.to(second.server.admin());
    await old;
    await clock.advance(60_000);
    expect(new Set(cache.list(ConfigMap).map(({ metadata }) => metadata.name))).toEqual(new Set(["new", "same"]));
    await second.direct.create(configMap("later"));
    await clock.advance(10);
    expect(cache.get(ConfigMap, key("later"))).toBeDefined();
  });
});

describe("an informer over a bad line", () => {
  const seeds = Array.from({ length: 12 }, (_, index) => index + 1);

  async function run(seed: number, faults: Faults, watchList: boolean, restarts: boolean) {
    const { clock, random, direct, faulty, cache } = await start({ seed, faults, watchList });
    const seen: Seen[] = [];
    const problems: string[] = [];
    const state = new Map<string, Unstructured>();
    cache.informer(ConfigMap).addHandler({
      add: (object) => {
        const name = object.metadata.name ?? "";
        if (state.has(name)) problems.push(`${name} was added twice`);
        state.set(name, object);
        seen.push({ type: "add", name, revision: Number(object.metadata.resourceVersion) });
      },
      update: (object, old) => {
        const name = object.metadata.name ?? "";
        if (state.get(name) !== old) problems.push(`${name} changed from a state that was not seen`);
        if (Number(object.metadata.resourceVersion) <= Number(old.metadata.resourceVersion)) {
          problems.push(`${name} went back in time`);
        }
        state.set(name, object);
        seen.push({ type: "update", name, revision: Number(object.metadata.resourceVersion) });
      },
      delete: (object) => {
        const name = object.metadata.name ?? "";
        if (!state.delete(name)) problems.push(`${name} was deleted but never there`);
        seen.push({ type: "delete", name, revision: 0 });
      },
    });
    cache.start();
    while (!cache.synced(ConfigMap)) await clock.advance(100);
    const history: Seen[] = [];
    for (let step = 0; step < 150; step++) {
      await writeAtRandom(direct, random, history);
      if (restarts && randomInt(random, 25) === 0) faulty.down = !faulty.down;
      if (randomInt(random, 2) === 0) await clock.advance(randomInt(random, 400));
    }
    faulty.faults = {};
    faulty.down = false;
    await clock.advance(120_000);
    expect(problems).toEqual([]);
    const { items } = await direct.list(ConfigMap, { namespace: "default" });
    expect([...state].map(([name, { metadata }]) => `${name}@${metadata.resourceVersion}`).sort()).toEqual(
      items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort(),
    );
    return { seen, history };
  }

  test.each(seeds)(
    "cut and refused connections only: exactly the server's history, event by event (seed %i)",
    async (seed) => {
      const { seen, history } = await run(
        seed,
        { cut: 0.2, ended: 0.2, watchRefused: 0.3, refused: 0.3 },
        seed % 2 === 0,
        true,
      );
      expect(seen).toEqual(history);
    },
  );

  test.each(seeds)("with lost history (410) as well: no gap, no repetition, no step back (seed %i)", async (seed) => {
    const faults = { cut: 0.1, ended: 0.1, watchRefused: 0.2, refused: 0.2, answerLost: 0.1, expired: 0.3 };
    const { seen, history } = await run(seed, faults, seed % 2 === 0, true);
    const real = new Set(history.map(({ name, revision }) => `${name}@${revision}`));
    for (const { type, name, revision } of seen) if (type !== "delete") expect(real).toContain(`${name}@${revision}`);
  });
});
