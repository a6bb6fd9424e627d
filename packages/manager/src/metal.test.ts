import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  findCondition,
  isObject,
  parseYamlDocuments,
  seededRandom,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, conditionsOf, Machine } from "@capstan/capi";
import { BareMetalHost, IPClaim, Metal3Data, Metal3Machine } from "@capstan/infra-metal3";
import { Client, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { managerTransport } from "./access.ts";
import { kindRules } from "./kind-rules.ts";
import { KINDS } from "./kinds.ts";
import { type Manager, startManager } from "./manager.ts";

/** Both halves of bare metal, the hosted control plane and the core in one manager, with machines in memory. */
let clock: VirtualClock;
let server: ApiServer;
let manager: Manager;
let client: Client;
let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "capstan-metal-"));
  clock = new VirtualClock();
  const random = seededRandom(1);
  let running: ApiServer | undefined;
  server = await createApiServer({ store: memoryStore(), clock, random, ...kindRules(KINDS, () => running) });
  running = server;
  const transport = await managerTransport(server, clock);
  manager = await startManager({ transport, kinds: "in-process", dataDir, clock, random, log: silentLogger });
  client = new Client(server.admin(), { fieldManager: "user", clock });
});

afterEach(async () => {
  await manager.stop();
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** docs/examples/mixed.yaml in memory: the control plane in this process, two machines of metal, no hosts with agents. */
async function manifest(): Promise<Unstructured[]> {
  const text = await readFile(new URL("../../../docs/examples/mixed.yaml", import.meta.url), "utf8");
  const documents = parseYamlDocuments(
    text.replaceAll("IMAGE_URL", "http://images/node-v1.34.4.iso").replace("type: Process", "type: Embedded"),
  );
  return (documents as Unstructured[])
    .filter(({ metadata }) => metadata.name !== "mixed-own")
    .map((object) =>
      object.kind === "MachineDeployment"
        ? { ...object, spec: { ...(isObject(object["spec"]) ? object["spec"] : {}), replicas: 2 } }
        : object,
    );
}

async function addHost(name: string, namespace = "default"): Promise<void> {
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name: `${name}-bmc` },
    stringData: { username: "admin", password: "secret" },
  };
  await client.create<Unstructured>(secret);
  const bmc = { address: `memory://rack/${name}`, credentialsName: `${name}-bmc` };
  await client.create<Unstructured>({
    apiVersion: BareMetalHost.apiVersion,
    kind: BareMetalHost.kind,
    metadata: { namespace, name },
    spec: { online: false, bmc },
  });
}

const NAMESPACE = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false } as const;
const hosts = async (namespace = "default"): Promise<BareMetalHost[]> =>
  (await client.list(BareMetalHost, { namespace })).items;
const states = async (namespace = "default"): Promise<string[]> =>
  (await hosts(namespace)).map(({ status }) => `${status?.provisioning.state} ${status?.poweredOn}`);

async function until(what: string, reached: () => Promise<boolean>): Promise<void> {
  for (let count = 0; count < 2000; count++) {
    if (await reached()) return;
    await clock.advance(200);
    // Keys are made in threads, in real time: let them finish before virtual time continues.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const machines = (await client.list(Metal3Machine, { namespace: "default" })).items;
  throw new Error(`${what}: never; ${JSON.stringify([await states(), machines.map(({ status }) => status)])}`);
}

test("a cluster on bare metal reaches Available, keeps its hosts to itself, and gives them back off and clean", async () => {
  for (const name of ["h1", "h2"]) await addHost(name);
  await until("hosts available", async () => (await states()).every((state) => state === "available false"));
  for (const object of await manifest()) await client.create(object);
  await until("Available", async () => {
    const cluster = await client.get(Cluster, { namespace: "default", name: "mixed" });
    return cluster !== undefined && findCondition(conditionsOf(cluster), "Available")?.status === "True";
  });
  const machines = (await client.list(Machine, { namespace: "default" })).items;
  expect(machines.map(({ status }) => status?.phase)).toEqual(["Running", "Running"]);
  expect(machines.map(({ spec }) => (spec.providerID ?? "").replace(/\/[^/]*$/, "")).sort()).toEqual([
    "metal3://default/h1",
    "metal3://default/h2",
  ]);
  expect(await states()).toEqual(["provisioned true", "provisioned true"]);
  await client.delete({ kind: Cluster, namespace: "default", name: "mixed" });
  await until("gone", async () => (await client.get(Cluster, { namespace: "default", name: "mixed" })) === undefined);
  await until("hosts free", async () => (await states()).every((state) => state === "available false"));
  for (const { spec } of await hosts())
    expect([spec.consumerRef, spec.image, spec.userData, spec.metaData]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  expect((await client.list(Metal3Machine, { namespace: "default" })).items).toEqual([]);
  expect((await client.list(Metal3Data, { namespace: "default" })).items).toEqual([]);
  expect((await client.list(IPClaim, { namespace: "default" })).items).toEqual([]);
});

test.each([1, 4, 12, 40])(
  "a namespace deleted in the middle, after %i s: machines are switched off and clean, nothing is left, the namespace goes",
  async (seconds) => {
    await client.create<Unstructured>({ apiVersion: "v1", kind: "Namespace", metadata: { name: "lab" } });
    await addHost("h1", "lab");
    await until("host available", async () => (await states("lab")).join() === "available false");
    for (const object of await manifest())
      await client.create({ ...object, metadata: { ...object.metadata, namespace: "lab" } });
    for (let passed = 0; passed < seconds * 5; passed++) {
      await clock.advance(200);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await client.delete({ kind: NAMESPACE, name: "lab" });
    await until("namespace gone", async () => (await client.get(NAMESPACE, { name: "lab" })) === undefined);
    for (const kind of [Cluster, Machine, BareMetalHost, Metal3Machine, Metal3Data, IPClaim])
      expect([kind.kind, (await client.list(kind as typeof Cluster)).items.length]).toEqual([kind.kind, 0]);
  },
);
