import { seededRandom, settle, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, Machine, MachineDeployment, WorkerPool } from "@capstan/capi";
import {
  Cache,
  Client,
  type RunningControllers,
  silentLogger,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addWorkerPoolIndexes, workerPoolController } from "./worker-pool.controller.ts";

let clock: VirtualClock;
let server: ApiServer;
let client: Client;
let cache: Cache;
let stopping: AbortController;
let running: RunningControllers;

beforeEach(async () => {
  clock = new VirtualClock();
  const random = seededRandom(1);
  server = await createApiServer({ store: memoryStore(), clock, random });
  await server.registerCrds([Cluster, Machine, MachineDeployment, WorkerPool].map((kind) => kind.crd()));
  client = new Client(server.admin(), { fieldManager: "test", clock });
  cache = new Cache(new Client(server.admin(), { fieldManager: "capstan", clock }), { clock, random });
  addWorkerPoolIndexes(cache);
  stopping = new AbortController();
  running = startControllers(
    [workerPoolController()],
    { cache, clock, random, log: silentLogger, recorder: silentRecorder },
    stopping.signal,
  );
  await client.create(object("cluster.x-k8s.io/v1beta2", "Cluster", "c1", { paused: false }));
});

afterEach(async () => {
  stopping.abort();
  await running.finished;
  await cache.stop();
  await server.close();
});

const object = (apiVersion: string, kind: string, name: string, spec: object, labels = {}): Unstructured => ({
  apiVersion,
  kind,
  metadata: { name, namespace: "default", labels },
  spec,
});

const reference = (kind: string): object => ({ apiGroup: "infrastructure.cluster.x-k8s.io", kind, name: "t" });
const member = (name: string, more: object = {}): object => ({
  name,
  infrastructureRef: reference("MemoryMachineTemplate"),
  bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: "t" } },
  ...more,
});
const pool = (replicas: number, members: object[]): Unstructured =>
  object("capstan.dev/v1alpha1", "WorkerPool", "general", {
    clusterName: "c1",
    replicas,
    template: { metadata: { labels: { pool: "general" } }, spec: { version: "v1.34.4" } },
    members,
  });

async function quiet(ms = 1000): Promise<void> {
  await clock.advance(ms);
  await settle();
}

const replicas = async (): Promise<Record<string, number | undefined>> => {
  const { items } = await client.list(MachineDeployment, { namespace: "default" });
  return Object.fromEntries(items.map((item) => [item.metadata.name ?? "", item.spec.replicas]));
};

/** Stands in for the MachineDeployment's controllers: machines of a member, available or not. */
async function machines(member_: string, count: number, condition: object | undefined, from = 0): Promise<void> {
  const name = `general-${member_}`;
  for (let i = from; i < count; i++) {
    const labels = {
      "cluster.x-k8s.io/cluster-name": "c1",
      "cluster.x-k8s.io/deployment-name": name,
      "capstan.dev/worker-pool": "general",
    };
    const spec = {
      clusterName: "c1",
      bootstrap: { dataSecretName: "x" },
      infrastructureRef: { ...reference("MemoryMachine"), name: `${name}-${i}` },
    };
    await client.create(object("cluster.x-k8s.io/v1beta2", "Machine", `${name}-${i}`, spec, labels));
    const time = new Date(clock.now()).toISOString().replace(/\.\d+Z/, "Z");
    const conditions = [
      {
        type: "Available",
        status: condition === undefined ? "True" : "False",
        reason: "X",
        message: "",
        lastTransitionTime: time,
      },
      ...(condition === undefined
        ? []
        : [
            {
              type: "InfrastructureReady",
              status: "False",
              message: "no host is free",
              lastTransitionTime: time,
              ...condition,
            },
          ]),
    ];
    await client.patchStatus({ kind: Machine, namespace: "default", name: `${name}-${i}` }, { status: { conditions } });
  }
}

test("each member becomes a MachineDeployment owned by the pool, the cheapest first", async () => {
  await client.create(pool(5, [member("cloud", { cost: "0.50" }), member("metal", { cost: "0.10", max: 3 })]));
  await quiet();
  expect(await replicas()).toEqual({ "general-cloud": 2, "general-metal": 3 });
  const deployment = await client.get(MachineDeployment, { namespace: "default", name: "general-metal" });
  expect(deployment?.metadata.ownerReferences).toMatchObject([
    { kind: "WorkerPool", name: "general", controller: true },
  ]);
  expect(deployment?.spec.template.metadata?.labels).toMatchObject({
    pool: "general",
    "capstan.dev/worker-pool": "general",
  });
  expect(deployment?.spec.template.spec.version).toBe("v1.34.4");
});

test("a member without capacity overflows to the next, and gets replicas back after its cool-down", async () => {
  await client.create(pool(4, [member("metal", { cost: "0.10" }), member("cloud", { cost: "0.50" })]));
  await quiet();
  expect(await replicas()).toEqual({ "general-cloud": 0, "general-metal": 4 });
  await machines("metal", 4, { reason: "InsufficientCapacity" });
  await quiet();
  expect(await replicas()).toEqual({ "general-cloud": 4, "general-metal": 0 });
  const full = await client.get(WorkerPool, { namespace: "default", name: "general" });
  expect(full?.status?.members?.[0]).toMatchObject({
    name: "metal",
    state: "Full",
    reason: "InsufficientCapacity",
    message: "no host is free",
  });

  for (let i = 0; i < 4; i++) await client.delete({ kind: Machine, namespace: "default", name: `general-metal-${i}` });
  await machines("cloud", 4, undefined);
  await quiet();
  expect((await client.get(WorkerPool, { namespace: "default", name: "general" }))?.status?.members?.[0]?.state).toBe(
    "CoolingDown",
  );
  expect(await replicas()).toEqual({ "general-cloud": 4, "general-metal": 0 });
  await quiet(900_000);
  // One more is asked for; nobody leaves before it works.
  expect(await replicas()).toEqual({ "general-cloud": 4, "general-metal": 1 });
  const asking = await client.get(WorkerPool, { namespace: "default", name: "general" });
  expect(asking?.status?.conditions?.find((c) => c.type === "Moving")).toMatchObject({
    status: "True",
    reason: "WaitingForReplacement",
  });
  await machines("metal", 1, undefined);
  await quiet();
  expect((await replicas())["general-cloud"]).toBe(3);
});

test("it belongs to its Cluster, and goes with it", async () => {
  await client.create(pool(1, [member("metal")]));
  await quiet();
  const found = await client.get(WorkerPool, { namespace: "default", name: "general" });
  expect(found?.metadata.ownerReferences).toMatchObject([{ kind: "Cluster", name: "c1" }]);
  expect(found?.metadata.labels).toEqual({ "cluster.x-k8s.io/cluster-name": "c1" });
  await client.delete({ kind: Cluster, namespace: "default", name: "c1" });
  await quiet();
  expect(await client.get(WorkerPool, { namespace: "default", name: "general" })).toBeUndefined();
  expect(await replicas()).toEqual({});
});

test("a machine that takes too long counts as one its member cannot give", async () => {
  await client.create(pool(1, [member("metal", { cost: "0.10" }), member("cloud", { cost: "0.50" })]));
  await quiet();
  await machines("metal", 1, { reason: "NotReady" });
  await quiet();
  expect(await replicas()).toEqual({ "general-cloud": 0, "general-metal": 1 });
  await quiet(601_000);
  expect(await replicas()).toEqual({ "general-cloud": 1, "general-metal": 0 });
});

test("replicas that fit nowhere are told", async () => {
  await client.create(pool(5, [member("metal", { max: 2 })]));
  await quiet();
  const found = await client.get(WorkerPool, { namespace: "default", name: "general" });
  expect(found?.status?.conditions?.find((c) => c.type === "Placed")).toMatchObject({
    status: "False",
    reason: "NoMemberHasRoom",
  });
});

test("a member that leaves the list gives up its machines as they are replaced, and then goes", async () => {
  await client.create(pool(2, [member("metal"), member("cloud")]));
  await quiet();
  await machines("metal", 2, undefined);
  await quiet();
  await client.patch(
    { kind: WorkerPool, namespace: "default", name: "general" },
    { spec: { members: [member("cloud")] } },
  );
  await quiet();
  expect(await replicas()).toEqual({ "general-cloud": 1, "general-metal": 2 });
  await machines("cloud", 1, undefined);
  await quiet();
  expect(await replicas()).toEqual({ "general-cloud": 2, "general-metal": 1 });
  await client.delete({ kind: Machine, namespace: "default", name: "general-metal-0" });
  await machines("cloud", 2, undefined, 1);
  await quiet();
  expect(await replicas()).toEqual({ "general-cloud": 2 });
});

test("a member that leaves without machines that work goes at once", async () => {
  await client.create(pool(2, [member("metal"), member("cloud")]));
  await quiet();
  await client.patch(
    { kind: WorkerPool, namespace: "default", name: "general" },
    { spec: { members: [member("cloud")] } },
  );
  await quiet();
  expect(await replicas()).toEqual({ "general-cloud": 2 });
});
