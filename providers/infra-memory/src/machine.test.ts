import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, conditionsOf, kindConverters, Machine, type Node, Secret } from "@capstan/capi";
import { Cache, Client, kindRef, silentLogger, silentRecorder, startControllers } from "@capstan/runtime";
import { startWorkload, type TestWorkload } from "@capstan/workloads/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BOOT_SECONDS_ANNOTATION, FAULT_ANNOTATION } from "./faults.ts";
import { MemoryCluster } from "./kinds/memory-cluster.ts";
import { MemoryMachine } from "./kinds/memory-machine.ts";
import { memoryProvider } from "./running.ts";

let clock: VirtualClock;
let client: Client;
let workload: TestWorkload;
let stop: () => Promise<void>;

beforeEach(async () => {
  clock = new VirtualClock();
  const random = seededRandom(3);
  workload = await startWorkload({ clock, random });
  const provider = memoryProvider({ clock, random, log: silentLogger, seed: 1, connect: workload.connect });
  const kinds = [Cluster, Machine, ...provider.kinds];
  const converters = kindConverters(kinds, (group) => `${group}/v1beta1`);
  const server = await createApiServer({ store: memoryStore(), clock, random, converters });
  await server.registerCrds(kinds.map((kind) => kind.crd()));
  client = new Client(server.admin(), { fieldManager: "test", clock });
  const cache = new Cache(client, { clock, random });
  cache.informer(Secret);
  provider.addIndexes(cache);
  const stopping = new AbortController();
  const controllers = provider.controllers({ workload: workload.clusters });
  startControllers(controllers, { cache, clock, random, log: silentLogger, recorder: silentRecorder }, stopping.signal);
  stop = async () => {
    stopping.abort(new Error("over"));
    await cache.stop();
    await server.close();
    await workload.close();
  };
  await createCluster();
});

afterEach(() => stop());

const pass = async (seconds: number): Promise<void> => {
  for (let i = 0; i < seconds * 4; i++) await clock.advance(250);
};

/** Keys are made in real time, whatever the clock says: waits for an outcome rather than for a moment. */
async function until<T>(read: () => Promise<T>, wanted: T): Promise<void> {
  for (let i = 0; i < 400 && (await read()) !== wanted; i++) await clock.advance(250);
  expect(await read()).toBe(wanted);
}

async function createCluster(): Promise<void> {
  const infra = { apiGroup: MemoryCluster.group, kind: MemoryCluster.kind, name: "c1" };
  const cluster = await client.create<Unstructured>({
    apiVersion: Cluster.apiVersion,
    kind: "Cluster",
    metadata: { namespace: "default", name: "c1" },
    spec: { infrastructureRef: infra },
  });
  await client.patchStatus(cluster, {
    status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } },
  });
  await client.create<Unstructured>({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "default", name: "boot" },
    data: { value: Buffer.from(workload.cloudConfig).toString("base64") },
  });
  await client.create<Unstructured>({
    apiVersion: MemoryCluster.apiVersion,
    kind: MemoryCluster.kind,
    metadata: { namespace: "default", name: "c1", labels: { "cluster.x-k8s.io/cluster-name": "c1" } },
    spec: { capacity: 2 },
  });
}

async function createMachine(name: string, spec: object = {}, annotations: Record<string, string> = {}): Promise<void> {
  const labels = { "cluster.x-k8s.io/cluster-name": "c1" };
  const machine = await client.create<Unstructured>({
    apiVersion: Machine.apiVersion,
    kind: "Machine",
    metadata: { namespace: "default", name, labels },
    spec: {
      clusterName: "c1",
      version: "v1.34.4",
      bootstrap: { dataSecretName: "boot" },
      infrastructureRef: { apiGroup: MemoryMachine.group, kind: MemoryMachine.kind, name },
    },
  });
  const { apiVersion, kind } = machine;
  await client.create<Unstructured>({
    apiVersion: MemoryMachine.apiVersion,
    kind: MemoryMachine.kind,
    metadata: {
      namespace: "default",
      name,
      labels,
      annotations,
      ownerReferences: [{ apiVersion, kind, name, uid: machine.metadata.uid ?? "", controller: true }],
    },
    spec,
  });
}

const infra = (name: string): Promise<MemoryMachine | undefined> =>
  client.get(MemoryMachine, { namespace: "default", name });
const ready = async (name: string) => conditionsOf((await infra(name)) ?? {}).find(({ type }) => type === "Ready");
const annotate = (name: string, fault: string | null): Promise<unknown> =>
  client.patch(
    { kind: MemoryMachine, namespace: "default", name },
    { metadata: { annotations: { [FAULT_ANNOTATION]: fault } } },
  );
const nodeReady = async (name: string): Promise<string | undefined> => {
  const NodeKind = kindRef<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
  const node = await workload.client.get(NodeKind, { name });
  return node?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
};

describe("a memory machine", () => {
  test("boots, joins with the token of its bootstrap data and becomes a Ready Node with its provider ID", async () => {
    await createMachine("m1", { bootSeconds: 20 });
    await pass(15);
    expect((await ready("m1"))?.reason).toBe("Booting");
    expect(await workload.nodes()).toHaveLength(0);
    await pass(10);
    expect((await ready("m1"))?.status).toBe("True");
    await until(() => nodeReady("m1"), "True");
    const [node] = await workload.nodes();
    expect(node?.metadata.name).toBe("m1");
    expect(node?.spec?.providerID).toBe((await infra("m1"))?.spec?.providerID);
    expect(node?.spec?.taints).toEqual([{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" }]);
    expect(node?.status?.nodeInfo?.["kubeletVersion"]).toBe("v1.34.4");
  });

  test("boots as slowly as its annotation says", async () => {
    await createMachine("m1", {}, { [BOOT_SECONDS_ANNOTATION]: "600" });
    await pass(300);
    expect((await ready("m1"))?.reason).toBe("Booting");
    await pass(301);
    expect((await ready("m1"))?.status).toBe("True");
  });

  test("that never boots says so and makes no Node", async () => {
    await createMachine("m1", { fault: "NeverBoots" });
    await pass(60);
    expect(await ready("m1")).toMatchObject({ status: "False", reason: "NeverBoots" });
    expect(await workload.nodes()).toHaveLength(0);
  });

  test("dies and comes back: its Node tells, its provisioned flag stays", async () => {
    await createMachine("m1");
    await until(() => nodeReady("m1"), "True");
    await annotate("m1", "NodeDies");
    await until(() => nodeReady("m1"), "Unknown");
    expect((await infra("m1"))?.status?.initialization?.provisioned).toBe(true);
    await annotate("m1", null);
    await until(() => nodeReady("m1"), "True");
  });

  test("that cannot reach the API joins when it can", async () => {
    await createMachine("m1", { fault: "APIUnreachable" });
    await pass(30);
    expect(await workload.nodes()).toHaveLength(0);
    await annotate("m1", "none");
    await until(() => nodeReady("m1"), "True");
  });

  test("whose API does not answer reports why, and joins later", async () => {
    workload.setReachable(false);
    await createMachine("m1");
    await pass(60);
    expect(await ready("m1")).toMatchObject({ status: "False", reason: "JoinFailed" });
    expect((await infra("m1"))?.status?.initialization?.provisioned).toBe(true);
    workload.setReachable(true);
    await until(() => nodeReady("m1"), "True");
    await until(async () => (await ready("m1"))?.status, "True");
  });

  test("without room waits with InsufficientCapacity until there is room", async () => {
    for (const name of ["m1", "m2", "m3"]) await createMachine(name);
    await pass(5);
    const reasons = await Promise.all(["m1", "m2", "m3"].map(async (name) => (await ready(name))?.reason));
    expect(new Set(reasons)).toEqual(new Set(["InsufficientCapacity", "Ready"]));
    expect(reasons.filter((reason) => reason === "Ready")).toHaveLength(2);
    const free = ["m1", "m2", "m3"].find((_, i) => reasons[i] === "Ready") ?? "";
    await client.delete({ kind: MemoryMachine, namespace: "default", name: free });
    await pass(5);
    const left = ["m1", "m2", "m3"].filter((name) => name !== free);
    expect(await Promise.all(left.map(async (name) => (await ready(name))?.reason))).toEqual(["Ready", "Ready"]);
  });

  test("waits while the fault says that there is no capacity", async () => {
    await createMachine("m1", { fault: "NoCapacity" });
    await pass(5);
    expect(await ready("m1")).toMatchObject({ status: "False", reason: "InsufficientCapacity" });
    await annotate("m1", "none");
    await until(() => nodeReady("m1"), "True");
  });

  test("is shown to clients of v1beta1 as that contract has it", async () => {
    await createMachine("m1");
    await until(async () => (await ready("m1"))?.status, "True");
    const Old = kindRef({ ...MemoryMachine, version: "v1beta1" });
    const old = await client.get(Old, { namespace: "default", name: "m1" });
    expect(old?.apiVersion).toBe("infrastructure.cluster.x-k8s.io/v1beta1");
    expect(old?.["status"]).toMatchObject({
      ready: true,
      v1beta2: { conditions: [{ type: "Ready", status: "True" }, {}, {}] },
    });
  });
});
