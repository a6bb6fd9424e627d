import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  findCondition,
  parseYamlDocuments,
  seededRandom,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, conditionsOf, Machine, MachineDeployment, Secret, secretText } from "@capstan/capi";
import { HostedControlPlane } from "@capstan/controlplane-hosted";
import { Client, silentLogger } from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { managerTransport } from "./access.ts";
import { kindRules } from "./kind-rules.ts";
import { KINDS } from "./kinds.ts";
import { type Manager, startManager } from "./manager.ts";

/**
 * The story of tests/e2e/hosted.test.ts without real hosts: the same steps on an embedded control plane, with all controllers and machines
 * in memory that join by the token and the signature they read. Kills, real programs and snapshots are left to that one.
 */
let clock: VirtualClock;
let server: ApiServer;
let manager: Manager;
let client: Client;
let dataDir: string;
const key = { namespace: "default", name: "demo" };

const STORY = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: demo, namespace: default }
spec:
  controlPlaneRef: { apiGroup: controlplane.cluster.x-k8s.io, kind: HostedControlPlane, name: demo }
  infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: MemoryCluster, name: demo }
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: HostedControlPlane
metadata: { name: demo, namespace: default }
spec: { version: v1.34.4, placement: { type: Embedded } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryCluster
metadata: { name: demo, namespace: default }
spec: {}
`;

const WORKERS = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: { name: workers, namespace: default }
spec:
  clusterName: demo
  replicas: 2
  selector: { matchLabels: {} }
  template:
    spec:
      clusterName: demo
      version: v1.34.4
      bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: workers } }
      infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: MemoryMachineTemplate, name: workers }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: { name: workers, namespace: default }
spec: { template: { spec: { format: cloud-config } } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryMachineTemplate
metadata: { name: workers, namespace: default }
spec: { template: { spec: {} } }
`;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "capstan-story-"));
  clock = new VirtualClock();
  const random = seededRandom(1);
  let running: ApiServer | undefined;
  server = await createApiServer({ store: memoryStore(), clock, random, ...kindRules(KINDS, () => running) });
  running = server;
  const transport = await managerTransport(server, clock);
  manager = await startManager({ transport, kinds: "in-process", dataDir, clock, random, log: silentLogger });
  client = new Client(server.admin(), { fieldManager: "user", clock });
});

afterAll(async () => {
  await manager?.stop();
  await server?.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function apply(manifests: string): Promise<void> {
  for (const document of parseYamlDocuments(manifests)) await client.create(document as Unstructured);
}

async function until(what: string, reached: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 1500; turn++) {
    if (await reached()) return;
    await clock.advance(200);
    // Keys are made in threads, in real time: let them finish before virtual time continues.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${what}: never; ${await told("Available")}; ${await told("UpToDate")}`);
}

const hosted = async (): Promise<HostedControlPlane> => {
  const found = await client.get(HostedControlPlane, key);
  if (found === undefined) throw new Error("gone");
  return found;
};

async function told(type: string): Promise<string> {
  const found = findCondition(conditionsOf(await hosted()), type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

async function clusterIs(type: string): Promise<boolean> {
  const cluster = await client.get(Cluster, key);
  return cluster !== undefined && findCondition(conditionsOf(cluster), type)?.status === "True";
}

async function kubeconfig(): Promise<string> {
  return secretText(await client.get(Secret, { ...key, name: "demo-kubeconfig" }), "value") ?? "";
}

interface Kubeconfig {
  clusters: { cluster: { server: string; "tls-server-name": string } }[];
  users: { user: { "client-certificate-data": string; "client-key-data": string } }[];
}

/** A GET over the network, with the administrator's certificate or as nobody. */
async function ask(path: string, admin = false): Promise<{ status: number; body: string }> {
  const { clusters, users } = parse(await kubeconfig()) as Kubeconfig;
  const [{ cluster } = expect.fail("no cluster"), { user } = expect.fail("no user")] = [clusters[0], users[0]];
  const decoded = (data: string): string => Buffer.from(data, "base64").toString();
  const own = { cert: decoded(user["client-certificate-data"]), key: decoded(user["client-key-data"]) };
  const options = { servername: cluster["tls-server-name"], rejectUnauthorized: false, agent: false as const };
  return await new Promise((resolve, reject) => {
    const call = request(`${cluster.server}${path}`, { ...options, ...(admin ? own : {}) }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    call.on("error", reject);
    call.end();
  });
}

const anonymous = async (path: string): Promise<number> => (await ask(path)).status;
const nodes = async (): Promise<number> =>
  (JSON.parse((await ask("/api/v1/nodes", true)).body) as { items: unknown[] }).items.length;

test("one file with Cluster and HostedControlPlane leads to a ready API", async () => {
  await apply(STORY);
  await until("Available", () => clusterIs("Available"));
  expect(await told("Available")).toMatch(/^True/);
  expect(await kubeconfig()).toContain("demo-admin@demo");
});

test("historic failure 1, cluster-info and its RBAC: anonymous reads it over the network, and nothing else", async () => {
  expect(await anonymous("/api/v1/namespaces/kube-public/configmaps/cluster-info")).toBe(200);
  for (const path of ["/api/v1/namespaces/kube-public/configmaps", "/api/v1/secrets", "/api/v1/nodes"])
    expect(await anonymous(path), path).toBe(403);
});

test("historic failure 3, nodeRef: the Cluster is initialized and Available without any Machine or Node of a control plane", async () => {
  expect((await client.list(Machine, { namespace: "default" })).items).toEqual([]);
  expect(await clusterIs("ControlPlaneInitialized")).toBe(true);
  const cluster = await client.get(Cluster, key);
  expect(cluster?.status?.initialization).toMatchObject({ controlPlaneInitialized: true });
});

test("machines join by their bootstrap data; the Cluster is Available with all of them", async () => {
  await apply(WORKERS);
  await until("two machines", async () => {
    const { items } = await client.list(Machine, { namespace: "default" });
    return items.length === 2 && items.every((machine) => machine.status?.phase === "Running");
  });
  await until("Available", () => clusterIs("Available"));
  expect(await nodes()).toBe(2);
});

test("historic failure 3, nodeRef: a node is taken out of the cluster although no control plane Machine is left to count", async () => {
  const workers = { namespace: "default", name: "workers" };
  const deployment = await client.get(MachineDeployment, workers);
  if (deployment === undefined) throw new Error("gone");
  await client.patch(deployment, { spec: { replicas: 1 } });
  await until("one machine", async () => (await client.list(Machine, { namespace: "default" })).items.length === 1);
  expect(await nodes()).toBe(1);
});

test("scaled to zero it does not answer, scaled back it does", async () => {
  await client.patch(await hosted(), { spec: { replicas: 0 } });
  await until("hibernated", async () => (await told("Available")).startsWith("False Hibernated"));
  await client.patch(await hosted(), { spec: { replicas: 1 } });
  await until("awake", async () => (await told("Available")).startsWith("True"));
});

test("an upgrade that cannot be leaves the old version serving and says why; one that can is done", async () => {
  for (const version of ["v1.36.0", "v1.99.0", "v1.33.0"]) {
    await client.patch(await hosted(), { spec: { version } });
    await until(version, async () => (await told("UpToDate")).startsWith("False InvalidVersion"));
    expect(await told("Available")).toMatch(/^True/);
    expect((await hosted()).status?.version).toBe("v1.34.4");
  }
  await client.patch(await hosted(), { spec: { version: "v1.35.4" } });
  await until("v1.35.4", async () => (await hosted()).status?.version === "v1.35.4");
  await until("up to date", async () => (await told("UpToDate")).startsWith("True"));
});

test("deleting the Cluster leaves nothing of it", async () => {
  await client.delete({ kind: Cluster, ...key });
  await until("gone", async () => (await client.get(Cluster, key)) === undefined);
  const machines = await client.list(Machine, { namespace: "default" });
  const deployments = await client.list(MachineDeployment, { namespace: "default" });
  const planes = await client.list(HostedControlPlane, { namespace: "default" });
  expect([...machines.items, ...deployments.items, ...planes.items]).toEqual([]);
  const secrets = (await client.list(Secret, { namespace: "default" })).items;
  expect(secrets.map(({ metadata }) => metadata.name).filter((name) => name?.startsWith("demo"))).toEqual([]);
});
