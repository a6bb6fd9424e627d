import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseYamlDocuments, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, ConfigMap, Machine } from "@capstan/capi";
import { ByoHost, ENROLMENT_ANNOTATION } from "@capstan/host-agent";
import { ByoMachine, DEAD_AGENT, SIMULATED_AGENT_ANNOTATION } from "@capstan/infra-byoh";
import { Client, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { managerTransport } from "./access.ts";
import { kindRules } from "./kind-rules.ts";
import { KINDS } from "./kinds.ts";
import { type Manager, startManager } from "./manager.ts";

/** Bring-your-own hosts, the hosted control plane and the core in one manager, with agents in memory. */
let clock: VirtualClock;
let server: ApiServer;
let manager: Manager;
let client: Client;
let dataDir: string;
/** All that was applied but for the host. */
let file: Unstructured[];
/** What the host last had to remove, and what it last reported about it. */
let released: { asked?: string | undefined; done?: string | undefined };

const NAMESPACE = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false } as const;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "capstan-own-"));
  clock = new VirtualClock();
  const random = seededRandom(1);
  let running: ApiServer | undefined;
  server = await createApiServer({ store: memoryStore(), clock, random, ...kindRules(KINDS, () => running) });
  running = server;
  const transport = await managerTransport(server, clock);
  manager = await startManager({ transport, kinds: "in-process", dataDir, clock, random, log: silentLogger });
  client = new Client(server.admin(), { fieldManager: "user", clock });
  released = {};
  server.internal.watch({ group: ByoHost.group, plural: ByoHost.plural }, ({ object }) => {
    const { spec, status } = (object ?? {}) as Partial<ByoHost>;
    if (spec?.release !== undefined) released.asked = spec.release.machineUID;
    if (status?.release?.phase === "Released") released.done = status.release.machineUID;
  });
  await client.create<Unstructured>({ apiVersion: "v1", kind: "Namespace", metadata: { name: "lab" } });
  const annotations = { [SIMULATED_AGENT_ANNOTATION]: "", [ENROLMENT_ANNOTATION]: "abcdef" };
  const { apiVersion, kind } = ByoHost;
  await client.create<Unstructured>({
    apiVersion,
    kind,
    metadata: { namespace: "lab", name: "h1", annotations },
    spec: {},
  });
  const text = await readFile(new URL("../../../docs/examples/own-hosts.yaml", import.meta.url), "utf8");
  const documents = parseYamlDocuments(text.replace("type: Process", "type: Embedded")) as Unstructured[];
  file = documents.map((object) => ({ ...object, metadata: { ...object.metadata, namespace: "lab" } }));
  for (const object of file) await client.create(object);
});

afterEach(async () => {
  await manager.stop();
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds * 5; passed++) {
    await clock.advance(200);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function until(what: string, reached: () => Promise<boolean>): Promise<void> {
  for (let count = 0; count < 3000; count++) {
    if (await reached()) return;
    await clock.advance(200);
    // Keys are made in threads, in real time: let them finish before virtual time continues.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${what}: never; ${JSON.stringify((await client.list(ByoHost)).items)}`);
}

const isGone = async () => (await client.get(NAMESPACE, { name: "lab" })) === undefined;

async function expectNothingLeft(): Promise<void> {
  for (const kind of [Cluster, Machine, ByoHost, ByoMachine])
    expect([kind.kind, (await client.list(kind as typeof Cluster)).items.length]).toEqual([kind.kind, 0]);
}

test.each([1, 6, 20, 40])(
  "a namespace deleted with its own host, after %i s: the host is cleaned if it was claimed, nothing is left",
  async (seconds) => {
    await pass(seconds);
    await client.delete({ kind: NAMESPACE, name: "lab" });
    await until("namespace gone", isGone);
    await expectNothingLeft();
    expect(released.done).toBe(released.asked);
  },
);

test.each([2, 10, 40])(
  "kubectl delete of the whole file after %i s: all goes, and the host is free and clean",
  async (seconds) => {
    await pass(seconds);
    for (const object of file) await client.delete(object);
    const left = async (): Promise<number> =>
      (await client.list(Cluster)).items.length +
      (await client.list(Machine)).items.length +
      (await client.list(ByoMachine)).items.length;
    await until("all gone", async () => (await left()) === 0);
    const host = () => client.get(ByoHost, { namespace: "lab", name: "h1" });
    await until("a free host", async () => JSON.stringify((await host())?.spec) === "{}");
    expect((await host())?.metadata.finalizers ?? []).toEqual([]);
    expect(released.done).toBe(released.asked);
  },
);

test("a namespace deleted while its own host is away: all goes, and the host learns of it when it is back", async () => {
  const host = { kind: ByoHost, namespace: "lab", name: "h1" };
  const isRunning = async () =>
    (await client.get(ByoHost, host))?.status?.bootstrap?.phase === "Succeeded" &&
    (await client.list(Machine, { namespace: "lab" })).items.every(({ status }) => status?.phase === "Running");
  await until("a node", isRunning);
  await client.patch(host, { metadata: { annotations: { [SIMULATED_AGENT_ANNOTATION]: DEAD_AGENT } } });
  await client.delete({ kind: NAMESPACE, name: "lab" });
  await until("namespace gone", isGone);
  await expectNothingLeft();
  const note = await client.get(ConfigMap, { namespace: "kube-system", name: "byoh-given-up-abcdef" });
  expect(note?.["data"]).toMatchObject({ host: "lab/h1" });
});
