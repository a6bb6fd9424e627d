import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, systemClock, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Client, kindRef, Lease, silentLogger } from "@capstan/runtime";
import { FaultyTransport } from "@capstan/runtime/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MANAGER_NAMESPACE, managerTransport } from "./access.ts";
import { runElected } from "./elected.ts";
import type { ManagerEndpoints } from "./endpoints.ts";
import { kindRules } from "./kind-rules.ts";
import { KINDS } from "./kinds.ts";

const Cluster = kindRef({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  namespaced: true,
});

let clock: VirtualClock;
let server: ApiServer;
let client: Client;
let dir: string;
const random = seededRandom(1);

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-elected-"));
  clock = new VirtualClock();
  let running: ApiServer | undefined;
  server = await createApiServer({ store: memoryStore(), clock, random, ...kindRules(KINDS, () => running) });
  running = server;
  client = new Client(server.admin(), { fieldManager: "user", clock });
});

afterEach(async () => {
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

/** Passes time until something is so; what a manager reads from disk takes real time as well. */
async function until(what: string, is: () => boolean | Promise<boolean>): Promise<void> {
  const end = systemClock.monotonic() + 20_000;
  while (systemClock.monotonic() < end) {
    if (await is()) return;
    await clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`waited in vain for: ${what}`);
}

/** `closing`: what its work needs to come to an end. */
async function manager(name: string, closing: Promise<void> = Promise.resolve()) {
  const transport = new FaultyTransport(await managerTransport(server, clock), random);
  const toLease = new FaultyTransport(await managerTransport(server, clock), random);
  const stop = new AbortController();
  const state = { leads: false, endpoints: undefined as ManagerEndpoints | undefined };
  const ended = runElected(
    {
      transport,
      apiHost: "embedded",
      kinds: "in-process",
      dataDir: join(dir, name),
      election: { namespace: MANAGER_NAMESPACE, identity: name, transport: toLease },
      health: { host: "127.0.0.1", port: 0 },
      metricsAddress: { host: "127.0.0.1", port: 0 },
      version: "0.1.0",
      clock,
      random,
      log: silentLogger,
      onServing: (endpoints) => {
        state.endpoints = endpoints;
      },
      onLead: async () => {
        state.leads = true;
        return async () => {
          await closing;
          state.leads = false;
        };
      },
    },
    stop.signal,
  );
  await until(`${name} to serve`, () => state.endpoints !== undefined);
  const get = async (url = ""): Promise<string> => await (await fetch(url)).text();
  return { state, stop, ended, transport, toLease, get };
}

async function makeCluster(name: string): Promise<void> {
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryCluster", name };
  const metadata = { name, namespace: "default" };
  await client.create({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata,
    spec: { infrastructureRef },
  });
}

async function isWorkedOn(name: string): Promise<boolean> {
  const cluster = await client.get(Cluster, { namespace: "default", name });
  return (cluster?.metadata.finalizers ?? []).length > 0;
}

const holder = async (): Promise<string | undefined> =>
  (await client.get(Lease, { namespace: MANAGER_NAMESPACE, name: "capstan-manager" }))?.spec?.holderIdentity;

test("of two managers one works, the other waits, tells so and takes over when the first stops", async () => {
  const a = await manager("a");
  await until("a to lead", () => a.state.leads);
  const b = await manager("b");
  await makeCluster("first");
  await until("work on the first cluster", () => isWorkedOn("first"));
  expect([await holder(), b.state.leads]).toEqual(["a", false]);
  // The one that waits is well and ready: it serves webhooks.
  expect(await b.get(`${b.state.endpoints?.healthUrl}/readyz`)).toBe("ok");
  expect(await b.get(b.state.endpoints?.metricsUrl)).toContain(
    'leader_election_master_status{name="capstan-manager"} 0',
  );
  const figures = await a.get(a.state.endpoints?.metricsUrl);
  expect(figures).toContain('leader_election_master_status{name="capstan-manager"} 1');
  expect(figures).toMatch(/controller_runtime_reconcile_total\{controller="cluster",result="success"\} [1-9]/);
  expect(figures).toMatch(/rest_client_requests_total\{code="20[01]",method="PATCH",host="embedded"\} [1-9]/);
  expect(figures).toMatch(
    /capstan_controller_creation_timestamp\{controller="cluster",kind="Cluster",.*name="first"\}/,
  );
  a.stop.abort();
  await until("a to end", () => !a.state.leads);
  await until("b to lead", () => b.state.leads);
  expect([await a.ended, await holder()]).toEqual(["stopped", "b"]);
  await expect(a.get(`${a.state.endpoints?.healthUrl}/healthz`), "nothing listens any more").rejects.toThrow();
  await makeCluster("second");
  await until("work on the second cluster", () => isWorkedOn("second"));
  b.stop.abort();
  await until("b to end", () => !b.state.leads);
  expect(await b.ended).toBe("stopped");
});

test("a leader that loses the API ends as lost before the other begins", async () => {
  const a = await manager("a");
  await until("a to lead", () => a.state.leads);
  const b = await manager("b");
  await clock.advance(5000);
  a.transport.down = true;
  a.toLease.down = true;
  let together = false;
  await until("b to lead", () => {
    together ||= a.state.leads && b.state.leads;
    return b.state.leads;
  });
  expect([together, await a.ended, await holder()]).toEqual([false, "lost", "b"]);
  b.stop.abort();
  await until("b to end", () => !b.state.leads);
  await b.ended;
});

test("a leader that lost the lease and cannot stop is left behind, and writes nothing any more", async () => {
  let release = (): void => undefined;
  const closing = new Promise<void>((resolve) => {
    release = resolve;
  });
  const a = await manager("a", closing);
  await until("a to lead", () => a.state.leads);
  await makeCluster("first");
  await until("work on the first cluster", () => isWorkedOn("first"));
  a.toLease.down = true;
  let outcome: string | undefined;
  void a.ended.then((ended) => {
    outcome = ended;
  });
  await until("a to end", () => outcome !== undefined);
  expect([outcome, a.state.leads]).toEqual(["lost", true]);
  await makeCluster("second");
  for (let i = 0; i < 50; i++) await clock.advance(100);
  expect(await isWorkedOn("second")).toBe(false);
  release();
  await until("its work to end", () => !a.state.leads);
  await clock.advance(1000);
});
