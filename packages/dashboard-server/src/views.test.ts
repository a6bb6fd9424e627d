import { systemClock, systemRandom, type Unstructured } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, Machine } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { ByoMachine } from "@capstan/infra-byoh";
import { PROVIDERS } from "@capstan/manager/providers";
import { Cache, Client, silentLogger } from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Topic } from "./topic.ts";
import { Views } from "./views.ts";

const deps = { clock: systemClock, random: systemRandom };
const kinds = [Cluster, Machine, ByoMachine, ByoHost];
let api: ApiServer;
let client: Client;
let cache: Cache;
let views: Views;

beforeAll(async () => {
  api = await createApiServer({ store: memoryStore(), ...deps });
  await api.registerCrds(kinds.map((kind) => kind.crd()));
  client = new Client(api.admin(), { fieldManager: "test", clock: systemClock });
  cache = new Cache(client, { ...deps });
  cache.start();
  views = new Views({ cache, kinds, providers: PROVIDERS, log: silentLogger, ...deps });
});

afterAll(async () => {
  await views.stop();
  await cache.stop();
  await api.close();
});

async function topic(name: string): Promise<Topic> {
  const found = await views.topic(name);
  if (found === undefined) throw new Error(`no topic ${name}`);
  return found;
}

const itemsOf = (of: Topic): Map<string, { [key: string]: unknown }> =>
  new Map(of.since(0).set.map(({ key, json }) => [key, JSON.parse(json) as { [key: string]: unknown }]));

/** Resolves as soon as the topic satisfies the condition. */
async function until(of: Topic, wish: (items: Map<string, { [key: string]: unknown }>) => boolean): Promise<void> {
  if (wish(itemsOf(of))) return;
  await new Promise<void>((resolve) => {
    const stop = of.subscribe(() => {
      if (!wish(itemsOf(of))) return;
      stop();
      resolve();
    });
  });
}

const labels = { "cluster.x-k8s.io/cluster-name": "c1" };
const object = (apiVersion: string, kind: string, name: string, spec: object): Unstructured =>
  ({ apiVersion, kind, metadata: { namespace: "default", name, labels }, spec }) as Unstructured;
const infra = "infrastructure.cluster.x-k8s.io/v1beta2";

test("rows follow their clusters; nothing is sent without a change", async () => {
  const fleet = await topic("fleet");
  await client.create(object("cluster.x-k8s.io/v1beta2", "Cluster", "c1", { paused: true }));
  await until(fleet, (items) => items.has("default/c1"));
  expect(itemsOf(fleet).get("default/c1")).toMatchObject({ name: "c1", state: { state: "Paused" } });
  const before = views.sequence.last;
  const live = await client.get(Cluster, { namespace: "default", name: "c1" });
  if (live === undefined) throw new Error("gone");
  await client.patch(live, { metadata: { annotations: { note: "irrelevant" } } });
  await client.create(object("cluster.x-k8s.io/v1beta2", "Cluster", "c2", { paused: true }));
  await until(fleet, (items) => items.has("default/c2"));
  expect(fleet.since(before).set.map(({ key }) => key)).toEqual(["default/c2"]);
  await client.delete(object("cluster.x-k8s.io/v1beta2", "Cluster", "c2", {}));
  await until(fleet, (items) => !items.has("default/c2"));
});

test("a cluster's topic contains its parts with their states, the host that a machine claimed, changes and Events", async () => {
  const view = await topic("cluster:default/c1");
  await until(view, (items) => items.has("Cluster/c1"));
  const machine = await client.create(object(infra, "ByoMachine", "m1", {}));
  await client.create(
    object(infra, "ByoHost", "h1", {
      machineRef: { apiVersion: infra, kind: "ByoMachine", namespace: "default", name: "m1", uid: "u" },
    }),
  );
  await until(view, (items) => items.has("ByoMachine/m1") && items.has("ByoHost/h1"));
  expect(itemsOf(view).get("ByoHost/h1")).toMatchObject({ parent: "ByoMachine/m1", provider: "byoh" });
  expect(itemsOf(view).get("Cluster/c1")).toMatchObject({
    state: { state: "Paused" },
    causes: [{ level: "Paused", cause: expect.stringContaining("is paused") }],
  });
  const condition = {
    type: "Ready",
    status: "False",
    reason: "NoHost",
    message: "x",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  await client.patchStatus(machine, { status: { conditions: [condition] } });
  await until(view, (items) => [...items.values()].some((item) => item["type"] === "change"));
  await client.create({
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { namespace: "default", name: "e1" },
    regarding: { kind: "ByoMachine", name: "m1", namespace: "default" },
    reason: "Noted",
    note: "something",
    type: "Warning",
    action: "Note",
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "capstan.dev/test",
    reportingInstance: "test",
  } as Unstructured);
  await until(view, (items) => items.has("event/e1"));
  expect(itemsOf(view).get("event/e1")).toMatchObject({ type: "event", reason: "Noted", warning: true });
  const hosts = await topic("hosts");
  await until(hosts, (items) => items.has("ByoHost/default/h1"));
  expect(itemsOf(hosts).get("ByoHost/default/h1")).toMatchObject({ state: "In use", machine: "m1" });
});

test("rejects unknown topics", async () => {
  for (const name of ["", "secrets", "cluster:", "cluster:a", "cluster:a/b/c"])
    expect(await views.topic(name)).toBeUndefined();
});
