import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { seededRandom, systemClock, type Transport, VirtualClock } from "@capstan/apimachinery";
import { BACKDATE_MS, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { type Cache, openDialGate, silentLogger } from "@capstan/runtime";
import { expect, test } from "vitest";
import { Secret } from "../contract/builtin-kinds.ts";
import { Machine } from "../kinds/machine.ts";
import { WorkloadConnections } from "./workload-connections.ts";

interface Handler {
  add(secret: Secret): void;
  update(object: object, old: object): void;
  delete(secret: Secret): void;
}

const KUBECONFIG = JSON.stringify({
  "current-context": "a",
  contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
  clusters: [{ name: "a", cluster: { server: "https://one.example:6443" } }],
  users: [{ name: "a", user: { token: "t" } }],
});

const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "default", name: "c-kubeconfig", labels: { "cluster.x-k8s.io/cluster-name": "c" } },
  data: { value: Buffer.from(KUBECONFIG).toString("base64") },
} as unknown as Secret;

const NO_NODES = {
  status: 200,
  headers: {},
  body: { apiVersion: "v1", kind: "NodeList", metadata: { resourceVersion: "1" }, items: [] },
  warnings: [],
};

/** What ends the list at the beginning of a watch. */
const LISTED = {
  type: "BOOKMARK",
  object: {
    apiVersion: "v1",
    kind: "Node",
    metadata: { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } },
  },
};

function start(more: { machines?: () => object[] } = {}) {
  const handlers = new Map<unknown, Handler>();
  const cache = {
    informer: (kind: unknown) => ({ addHandler: (handler: Handler) => handlers.set(kind, handler) }),
    list: () => more.machines?.() ?? [],
  } as unknown as Cache;
  const endpoint = { answers: false, fail: (): void => undefined };
  let opened = 0;
  let asked = 0;
  const refuse = (): Error => {
    asked++;
    return new Error("no answer");
  };
  const transport = {
    request: () => (endpoint.answers ? Promise.resolve(NO_NODES) : Promise.reject(refuse())),
    watch: async function* () {
      if (!endpoint.answers) throw refuse();
      yield LISTED;
      await new Promise((_, reject) => {
        endpoint.fail = () => reject(refuse());
      });
    },
    close: () => Promise.resolve(),
  } as unknown as Transport;
  const clock = new VirtualClock();
  const connections = new WorkloadConnections({
    gate: openDialGate(),
    cache,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    dial: () => {
      opened++;
      return transport;
    },
  });
  connections.start();
  const handler = handlers.get(Secret);
  const machines = handlers.get(Machine);
  if (handler === undefined || machines === undefined) throw new Error("nothing follows Secrets and Machines");
  return { connections, handler, machines, clock, endpoint, opened: () => opened, asked: () => asked };
}

/** Lets everything that needs no clock run to its end. */
const turns = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await Promise.resolve();
};

test("a Secret deleted while its kubeconfig is still being read leaves nothing open", async () => {
  const { handler, opened } = start();
  handler.add(secret);
  handler.delete(secret);
  await turns();
  expect(opened()).toBe(0);
});

test("connects to a Secret that exists, and reports a missing one differently", async () => {
  const { connections, handler, opened } = start();
  expect(connections.get({ namespace: "default", name: "c" })).toMatchObject({ state: "connecting" });
  handler.add(secret);
  await turns();
  expect(opened()).toBe(1);
  handler.delete(secret);
});

const machine = (labels: Record<string, string>, infrastructureProvisioned: boolean) => ({
  metadata: { namespace: "default", name: "m", labels },
  spec: { clusterName: "c" },
  status: { initialization: { infrastructureProvisioned } },
});

test.each([
  ["is asked at once if it is of the control plane", { "cluster.x-k8s.io/control-plane": "" }, 1],
  ["is not asked if it is a worker", {}, 0],
])("when a Machine is provisioned, a cluster that did not answer %s", async (_, labels, more) => {
  const { handler, machines, clock, asked } = start();
  handler.add(secret);
  await clock.advance(60_000);
  const before = asked();
  expect(before).toBeGreaterThan(3);
  machines.update(machine(labels, true), machine(labels, true));
  await clock.advance(50);
  expect(asked()).toBe(before);
  machines.update(machine(labels, true), machine(labels, false));
  await clock.advance(50);
  expect(asked()).toBe(before + more);
  handler.delete(secret);
});

/** The API at a Machine that a cluster with a dead endpoint still has: it lists no Nodes, and its watch says nothing. */
async function machineApi(endpoint: string) {
  const common = { validMs: 3_600_000, random: seededRandom(1), algorithm: "ECDSA-P256" } as const;
  const nowMs = systemClock.now();
  const ca = await createCertificateAuthority({
    commonName: "kubernetes",
    notBeforeMs: nowMs - BACKDATE_MS,
    ...common,
  });
  const leaf = await issueCertificate(ca, {
    commonName: "kube-apiserver",
    dnsNames: [endpoint],
    usages: ["server"],
    nowMs,
    ...common,
  });
  const server = createServer({ cert: leaf.certPem, key: leaf.keyPem }, (request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    if (request.url?.includes("watch=") === true) return void response.write(`${JSON.stringify(LISTED)}\n`);
    response.end(JSON.stringify({ apiVersion: "v1", kind: "NodeList", metadata: { resourceVersion: "1" }, items: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    caPem: ca.certPem,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a cluster whose endpoint is down is reached at its Machines by callers that request it, and by no others", async () => {
  const api = await machineApi("api.example");
  const joined = {
    metadata: { namespace: "default", name: "m", labels: { "cluster.x-k8s.io/control-plane": "" } },
    spec: { clusterName: "c" },
    status: { nodeRef: { name: "n" }, addresses: [{ type: "InternalIP", address: "127.0.0.2" }] },
  };
  const kubeconfig = {
    ...(JSON.parse(KUBECONFIG) as object),
    clusters: [
      {
        name: "a",
        cluster: {
          server: `https://api.example:${api.port}`,
          "certificate-authority-data": Buffer.from(api.caPem).toString("base64"),
        },
      },
    ],
  };
  const cluster = { namespace: "default", name: "c" };
  const members: object[] = [];
  const { connections, handler, clock, endpoint } = start({ machines: () => members });
  handler.add({ ...secret, data: { value: Buffer.from(JSON.stringify(kubeconfig)).toString("base64") } } as Secret);
  await clock.advance(50);
  // It may be about to answer.
  members.push(joined);
  expect(connections.atMachines(cluster)).toMatchObject({ state: "connecting" });
  await clock.advance(60_000);
  members.pop();
  expect(connections.atMachines(cluster)).toMatchObject({ state: "down", error: "no answer" });
  members.push(joined);
  const clientAtMachines = (): unknown => (connections.atMachines(cluster) as { client?: unknown }).client;
  const reached = new Promise<void>((resolve) => {
    connections.subscribe(() => {
      if (connections.atMachines(cluster).state === "connected") resolve();
    });
  });
  expect(connections.atMachines(cluster)).toMatchObject({
    state: "down",
    error: expect.stringMatching(/^no answer; at its Machines: /) as unknown,
  });
  await reached;
  const first = clientAtMachines();
  expect(connections.get(cluster)).toMatchObject({ state: "down", error: "no answer" });
  // The endpoint is used again as soon as it answers.
  endpoint.answers = true;
  await clock.advance(120_000);
  const { state, client } = connections.get(cluster) as { state: string; client?: unknown };
  expect(state).toBe("connected");
  expect(connections.atMachines(cluster)).toMatchObject({ client });
  // And the Machines again when it fails once more.
  endpoint.answers = false;
  endpoint.fail();
  const again = new Promise<void>((resolve) => {
    connections.subscribe(() => {
      if (connections.get(cluster).state === "down" && connections.atMachines(cluster).state === "connected") resolve();
    });
  });
  await clock.advance(1_000);
  expect(connections.get(cluster)).toMatchObject({ state: "down" });
  connections.atMachines(cluster);
  await again;
  // The connection from before was closed.
  expect(clientAtMachines()).not.toBe(first);
  handler.delete(secret);
  expect(connections.atMachines(cluster)).toMatchObject({ state: "connecting" });
  await api.close();
});
