import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, Machine } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { ByoMachine } from "@capstan/infra-byoh";
import { PROVIDERS } from "@capstan/manager/providers";
import { Cache, Client, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Views } from "./views.ts";

const kinds = [Cluster, Machine, ByoMachine, ByoHost];
const infra = "infrastructure.cluster.x-k8s.io/v1beta2";
let clock: VirtualClock;
let api: ApiServer;
let client: Client;
let cache: Cache;
let views: Views;

beforeEach(async () => {
  clock = new VirtualClock();
  const deps = { clock, random: seededRandom(1) };
  api = await createApiServer({ store: memoryStore(), ...deps });
  await api.registerCrds(kinds.map((kind) => kind.crd()));
  client = new Client(api.admin(), { fieldManager: "test", clock });
  cache = new Cache(client, deps);
  cache.start();
  views = new Views({ cache, kinds, providers: PROVIDERS, log: silentLogger, ...deps });
});

afterEach(async () => {
  await views.stop();
  await cache.stop();
  await api.close();
});

const object = (apiVersion: string, kind: string, name: string, spec: object, labels = {}): Unstructured =>
  ({ apiVersion, kind, metadata: { namespace: "default", name, labels }, spec }) as Unstructured;

const time = (): string => new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
const condition = (type: string, reason = type): object => ({
  type,
  status: "True",
  reason,
  message: "",
  lastTransitionTime: time(),
});

/** The item of a topic now, after changes of the API have arrived. */
async function itemOf(topicName: string, key: string): Promise<{ [key: string]: unknown }> {
  const opening = views.topic(topicName);
  await clock.advance(100);
  const topic = await opening;
  const found = topic?.since(0).set.find((entry) => entry.key === key);
  return JSON.parse(found?.json ?? "{}") as { [key: string]: unknown };
}

test("a host that stops reporting becomes not ready, and its cluster degraded, without any event", async () => {
  const labels = { "cluster.x-k8s.io/cluster-name": "c1" };
  const cluster = await client.create(object("cluster.x-k8s.io/v1beta2", "Cluster", "c1", { paused: false }));
  await client.patchStatus(cluster, { status: { conditions: [condition("Available")] } });
  const machineRef = { apiVersion: infra, kind: "ByoMachine", namespace: "default", name: "m1", uid: "u" };
  await client.create(object(infra, "ByoMachine", "m1", {}, labels));
  const host = await client.create(object(infra, "ByoHost", "h1", { machineRef }));
  await client.patchStatus(host, { status: { lastHeartbeatTime: time(), conditions: [condition("Ready")] } });

  expect(await itemOf("hosts", "ByoHost/default/h1")).toMatchObject({ ready: "True", health: { state: "Healthy" } });
  expect(await itemOf("fleet", "default/c1")).toMatchObject({ state: { state: "Healthy" } });
  await clock.advance(182_000);
  expect(await itemOf("hosts", "ByoHost/default/h1")).toMatchObject({
    ready: "Unknown",
    health: { state: "Degraded", reason: "AgentSilent" },
  });
  expect(await itemOf("fleet", "default/c1")).toMatchObject({ state: { state: "Degraded", reason: "AgentSilent" } });

  await client.patchStatus(host, { status: { lastHeartbeatTime: time() } });
  await clock.advance(2000);
  expect(await itemOf("hosts", "ByoHost/default/h1")).toMatchObject({ ready: "True" });
  expect(await itemOf("fleet", "default/c1")).toMatchObject({ state: { state: "Healthy" } });
});

test("a cluster without reports is progressing after five seconds, and degraded after ten minutes", async () => {
  await client.create(object("cluster.x-k8s.io/v1beta2", "Cluster", "new", { paused: false }));
  await clock.advance(5000);
  expect(await itemOf("fleet", "default/new")).toMatchObject({ state: { state: "Progressing" } });
  await clock.advance(600_000);
  expect(await itemOf("fleet", "default/new")).toMatchObject({ state: { state: "Degraded" } });
});
