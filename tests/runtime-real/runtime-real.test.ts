import { randomInt, seededRandom, systemClock, systemRandom, type Unstructured } from "@capstan/apimachinery";
import {
  type Client,
  controller,
  done,
  EventKind,
  EventRecorder,
  kindRef,
  LeaderElector,
  Lease,
  silentLogger,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";
import { transportCases } from "@capstan/runtime/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RealClient, startRealClient, until } from "./real-kubernetes.ts";

const ConfigMap = kindRef({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

let setup: RealClient;
let client: Client;

beforeAll(async () => {
  setup = await startRealClient();
  client = setup.client;
});
afterAll(() => setup?.stop());

async function makeNamespace(name: string): Promise<string> {
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return name;
}

function configMap(namespace: string, name: string, data: Record<string, string> = {}): Unstructured {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data };
}

describe("HTTP transport to kube-apiserver", () => {
  test.each(transportCases.map((one, index) => ({ ...one, index })))("$name", async ({ run, index }) => {
    await run(setup.transport, await makeNamespace(`suite-${index}`));
  });
});

describe("Client", () => {
  test("finds kinds by discovery, also the preferred version of a group", async () => {
    expect(await client.kindOf({ apiVersion: "apps/v1", kind: "Deployment" })).toMatchObject({ plural: "deployments" });
    expect(await client.mapper.preferred("rbac.authorization.k8s.io", "ClusterRole")).toMatchObject({
      version: "v1",
      namespaced: false,
    });
    await expect(client.kindOf({ apiVersion: "x.y/v1", kind: "Z" })).rejects.toThrow(/no matches for kind "Z"/);
  });

  test("lists in pages, deletes, and knows what is not there", async () => {
    const namespace = await makeNamespace("client");
    for (let i = 0; i < 7; i++) await client.create(configMap(namespace, `m${i}`));
    const first = await client.list(ConfigMap, { namespace, limit: 3 });
    expect(first.items).toHaveLength(3);
    expect(first.items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    expect((await client.list(ConfigMap, { namespace, limit: 3, continue: first.continue })).items).toHaveLength(3);
    expect(await client.get(ConfigMap, { namespace, name: "none" })).toBeUndefined();
    expect(await client.delete({ kind: ConfigMap, namespace, name: "m0" })).toBe(true);
    expect(await client.delete({ kind: ConfigMap, namespace, name: "m0" })).toBe(false);
    await client.deleteCollection(ConfigMap, { namespace, fieldSelector: "metadata.name!=kube-root-ca.crt" });
    expect((await client.list(ConfigMap, { namespace })).items.length).toBeLessThanOrEqual(1);
  });
});

describe("Cache", () => {
  test.each([true, false])("reads its own writes at once and follows the server (WatchList: %s)", async (watchList) => {
    const namespace = await makeNamespace(`cache-${watchList}`);
    const cache = setup.cache({ watchList });
    cache.restrict(ConfigMap, { namespace });
    cache.informer(ConfigMap);
    cache.start();
    expect(await cache.waitForSync()).toBe(true);
    const made = await cache.client.create(configMap(namespace, "own"));
    expect(cache.get(ConfigMap, { namespace, name: "own" })?.metadata.resourceVersion).toBe(
      made.metadata.resourceVersion,
    );
    const patched = await cache.client.patch(made, { data: { a: "1" } });
    expect(cache.get(ConfigMap, { namespace, name: "own" })?.["data"]).toEqual({ a: "1" });
    expect(Object.isFrozen(cache.get(ConfigMap, { namespace, name: "own" })?.["data"])).toBe(true);
    await cache.client.delete(patched);
    expect(cache.get(ConfigMap, { namespace, name: "own" })).toBeUndefined();
    await client.create(configMap(namespace, "foreign"));
    await until("the foreign write", () => cache.get(ConfigMap, { namespace, name: "foreign" }) !== undefined);
    await cache.stop();
  });

  test("a killed and restarted kube-apiserver: no event missed, doubled or out of order", async () => {
    const namespace = await makeNamespace("restart");
    const cache = setup.cache();
    cache.restrict(ConfigMap, { namespace });
    const seen = new Map<string, number>();
    const problems: string[] = [];
    const revisionOf = (object: Unstructured): number => Number(object.metadata.resourceVersion);
    cache.informer(ConfigMap).addHandler({
      add: ({ metadata, ...object }) => {
        if (seen.has(metadata.name ?? "")) problems.push(`added twice: ${metadata.name}`);
        seen.set(metadata.name ?? "", revisionOf({ metadata, ...object } as Unstructured));
      },
      update: (object, old) => {
        if (seen.get(object.metadata.name ?? "") !== revisionOf(old)) problems.push(`gap: ${object.metadata.name}`);
        if (revisionOf(object) <= revisionOf(old)) problems.push(`back in time: ${object.metadata.name}`);
        seen.set(object.metadata.name ?? "", revisionOf(object));
      },
      delete: ({ metadata }) => {
        if (!seen.delete(metadata.name ?? "")) problems.push(`deleted unknown: ${metadata.name}`);
      },
    });
    cache.start();
    await cache.waitForSync();
    const random = seededRandom(7);
    let writing = true;
    const writer = (async () => {
      while (writing) {
        const target = { kind: ConfigMap, namespace, name: `o${randomInt(random, 20)}` };
        try {
          const live = await client.get(ConfigMap, target);
          if (live === undefined) await client.create(configMap(namespace, target.name));
          else if (randomInt(random, 4) === 0) await client.delete(target);
          else await client.patch(target, { data: { n: String(randomInt(random, 1e6)) } });
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    })();
    for (let i = 0; i < 2; i++) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await setup.real.components.apiserver.restart("SIGKILL");
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
    writing = false;
    await writer;
    const { items } = await client.list(ConfigMap, { namespace });
    const expected = new Map(items.map((item) => [item.metadata.name ?? "", revisionOf(item)]));
    await until(
      "the cache to catch up",
      () => [...expected].every(([name, revision]) => seen.get(name) === revision) && seen.size === expected.size,
    );
    expect(problems).toEqual([]);
    await cache.stop();
  });
});

describe("Controllers", () => {
  test("make and repair what they own, and are silent when there is nothing to do", async () => {
    const namespace = await makeNamespace("controller");
    const cache = setup.cache();
    cache.restrict(ConfigMap, { namespace });
    let reconciles = 0;
    const mirror = controller("mirror")
      .for(ConfigMap, { predicate: { create: isSource, update: isSource, delete: isSource } })
      .owns(ConfigMap)
      .concurrency(4)
      .reconcile(async (request, context) => {
        reconciles++;
        const source = context.cache.get(ConfigMap, request);
        if (source === undefined) return done();
        const key = { namespace, name: `${request.name}-mirror` };
        const desired = configMap(namespace, key.name, { copied: "yes" });
        desired.metadata.ownerReferences = [
          {
            apiVersion: "v1",
            kind: "ConfigMap",
            name: request.name,
            uid: source.metadata.uid ?? "",
            controller: true,
          },
        ];
        await context.client.ensure(desired, context.cache.get(ConfigMap, key));
        return done();
      });
    const stop = new AbortController();
    const deps = { cache, clock: systemClock, random: systemRandom, log: silentLogger, recorder: silentRecorder };
    const running = startControllers([mirror], deps, stop.signal);
    for (let i = 0; i < 5; i++) await client.create(configMap(namespace, `source-${i}`));
    const mirrors = async (): Promise<Unstructured[]> =>
      (await client.list(ConfigMap, { namespace })).items.filter(({ metadata }) => metadata.name?.endsWith("-mirror"));
    await until("five mirrors", async () => (await mirrors()).length === 5);
    await client.patch({ kind: ConfigMap, namespace, name: "source-0-mirror" }, { data: { copied: "no" } });
    await until("the repair", async () =>
      (await mirrors()).every((object) => (object["data"] as { copied?: string }).copied === "yes"),
    );
    await until("rest", () => running.idle());
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = reconciles;
    const revision = (await client.list(ConfigMap, { namespace })).resourceVersion;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(reconciles).toBe(before);
    expect(
      (await client.list(ConfigMap, { namespace })).items.every(
        ({ metadata }) => Number(metadata.resourceVersion) <= Number(revision),
      ),
    ).toBe(true);
    expect((await mirrors())[0]?.metadata.managedFields?.map(({ manager }) => manager)).toContain("capstan-mirror");
    stop.abort();
    await running.finished;
    await cache.stop();
  });
});

function isSource(object: Unstructured): boolean {
  return object.metadata.name?.startsWith("source-") === true && !object.metadata.name.endsWith("-mirror");
}

describe("Recorder and LeaderElector", () => {
  test("events are accepted, a repetition becomes a series that kubectl shows", async () => {
    const namespace = await makeNamespace("events");
    const object = await client.create(configMap(namespace, "subject"));
    const recorder = new EventRecorder({
      client,
      clock: systemClock,
      random: systemRandom,
      controller: "capstan.dev/test",
      instance: "test-1",
    });
    for (let i = 0; i < 4; i++) recorder.event(object, "Warning", "Broken", "Trying", "no luck");
    const events = async (): Promise<(typeof EventKind)["__type"][]> =>
      (await client.list(EventKind, { namespace })).items;
    await until("the series", async () => (await events())[0]?.series !== undefined);
    await recorder.stop();
    expect(await events()).toHaveLength(1);
    const { stdout } = await setup.real.kubectl("events", "-n", namespace);
    expect(stdout).toContain("Broken");
  });

  test("one of two candidates leads, and the other takes over at once when it stops", async () => {
    const namespace = await makeNamespace("leader");
    const order: string[] = [];
    const candidate = (identity: string): LeaderElector =>
      new LeaderElector({
        client,
        clock: systemClock,
        random: systemRandom,
        namespace,
        name: "lock",
        identity,
        retryPeriodMs: 200,
      });
    const lead = (name: string) => async (signal: AbortSignal) => {
      order.push(name);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    };
    const stopA = new AbortController();
    const stopB = new AbortController();
    const a = candidate("a").run(lead("a"), stopA.signal);
    await until("a to lead", () => order.length === 1);
    const b = candidate("b").run(lead("b"), stopB.signal);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(order).toEqual(["a"]);
    stopA.abort();
    expect(await a).toBe("stopped");
    await until("b to lead", () => order.length === 2);
    expect((await client.get(Lease, { namespace, name: "lock" }))?.spec).toMatchObject({
      holderIdentity: "b",
      leaseTransitions: 1,
    });
    stopB.abort();
    expect(await b).toBe("stopped");
    expect(await client.get(Namespace, { name: namespace })).toBeDefined();
  });
});
