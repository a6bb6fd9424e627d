import { mkdtemp, rm } from "node:fs/promises";
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
import { Cluster, conditionsOf, Machine } from "@capstan/capi";
import { Client, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { managerTransport } from "./access.ts";
import { kindRules } from "./kind-rules.ts";
import { KINDS } from "./kinds.ts";
import { type Manager, startManager } from "./manager.ts";

/** Manifests as other tools' quick starts have them reach Available, unchanged but for the provider's kind names. */
let clock: VirtualClock;
let server: ApiServer;
let manager: Manager;
let client: Client;
let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "capstan-quick-start-"));
  clock = new VirtualClock();
  const random = seededRandom(1);
  let running: ApiServer | undefined;
  server = await createApiServer({ store: memoryStore(), clock, random, ...kindRules(KINDS, () => running) });
  running = server;
  manager = await startManager({
    transport: await managerTransport(server, clock),
    kinds: "in-process",
    dataDir,
    clock,
    random,
    log: silentLogger,
  });
  client = new Client(server.admin(), { fieldManager: "user", clock });
});

afterEach(async () => {
  await manager.stop();
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

const V1BETA1 = `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: { name: quick, namespace: default }
spec:
  clusterNetwork:
    pods: { cidrBlocks: ["192.168.0.0/16"] }
    serviceDomain: cluster.local
    services: { cidrBlocks: ["10.128.0.0/12"] }
  controlPlaneRef: { apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: HostedControlPlane, name: quick }
  infrastructureRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: MemoryCluster, name: quick }
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: { name: quick-md-0, namespace: default }
spec:
  clusterName: quick
  replicas: 2
  selector: { matchLabels: null }
  template:
    spec:
      clusterName: quick
      version: v1.34.4
      bootstrap: { configRef: { apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: quick-md-0 } }
      infrastructureRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: MemoryMachineTemplate, name: quick-md-0 }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: { name: quick-md-0, namespace: default }
spec:
  template:
    spec:
      joinConfiguration:
        nodeRegistration: { kubeletExtraArgs: { eviction-hard: "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%" } }
`;

const V1BETA2 = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: quick, namespace: default }
spec:
  clusterNetwork:
    pods: { cidrBlocks: ["192.168.0.0/16"] }
    serviceDomain: cluster.local
    services: { cidrBlocks: ["10.128.0.0/12"] }
  controlPlaneRef: { apiGroup: controlplane.cluster.x-k8s.io, kind: HostedControlPlane, name: quick }
  infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: MemoryCluster, name: quick }
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: { name: quick-md-0, namespace: default }
spec:
  clusterName: quick
  replicas: 2
  selector: { matchLabels: {} }
  template:
    spec:
      clusterName: quick
      version: v1.34.4
      bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: quick-md-0 } }
      infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: MemoryMachineTemplate, name: quick-md-0 }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: { name: quick-md-0, namespace: default }
spec:
  template:
    spec:
      joinConfiguration:
        nodeRegistration:
          kubeletExtraArgs: [{ name: eviction-hard, value: "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%" }]
`;

const PROVIDER = `
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: HostedControlPlane
metadata: { name: quick, namespace: default }
spec: { version: v1.34.4, placement: { type: Embedded } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryCluster
metadata: { name: quick, namespace: default }
spec: {}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryMachineTemplate
metadata: { name: quick-md-0, namespace: default }
spec: { template: { spec: {} } }
`;

const key = { namespace: "default", name: "quick" };

async function until(what: string, reached: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1500; i++) {
    if (await reached()) return;
    await clock.advance(200);
    // Keys are made in threads, in real time: let them finish before virtual time goes on.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const cluster = await client.get(Cluster, key);
  throw new Error(
    `${what}: never; ${JSON.stringify(
      cluster?.status?.conditions?.map((c) => [c.type, c.status, c.message]),
      null,
      1,
    )}`,
  );
}

test.each([
  ["v1beta1", V1BETA1],
  ["v1beta2", V1BETA2],
])("a quick-start manifest in %s reaches Available with its nodes, and goes away whole", async (_version, manifest) => {
  for (const document of [...parseYamlDocuments(manifest), ...parseYamlDocuments(PROVIDER)])
    await client.create(document as Unstructured);
  await until("Available", async () => {
    const cluster = await client.get(Cluster, key);
    return cluster !== undefined && findCondition(conditionsOf(cluster), "Available")?.status === "True";
  });
  const machines = (await client.list(Machine, { namespace: "default" })).items;
  expect(machines.map((machine) => machine.status?.phase)).toEqual(["Running", "Running"]);
  await client.delete({ kind: Cluster, ...key });
  await until("gone", async () => (await client.get(Cluster, key)) === undefined);
  expect((await client.list(Machine, { namespace: "default" })).items).toEqual([]);
});
