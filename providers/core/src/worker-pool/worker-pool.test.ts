import { seededRandom, settle, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import {
  type AnyKindDefinition,
  type CapacitySource,
  Cluster,
  Machine,
  MachineDeployment,
  RETRY_ANNOTATION,
  WorkerPool,
} from "@capstan/capi";
import {
  Cache,
  Client,
  type RunningControllers,
  silentLogger,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestConfig, TestMachine, TestMachineTemplate } from "../testing/test-infrastructure.ts";
import { addWorkerPoolIndexes, workerPoolController } from "./worker-pool.controller.ts";

let clock: VirtualClock;
let server: ApiServer;
let client: Client;
let cache: Cache;
let stopping: AbortController;
let running: RunningControllers;

/** Names of infrastructure machines that have their host. */
const provided = new Set<string>();

/** A provider that can give as many machines as there are TestConfigs. */
const source: CapacitySource = {
  machine: TestMachine as unknown as AnyKindDefinition,
  template: TestMachineTemplate as unknown as AnyKindDefinition,
  kind: TestConfig as unknown as AnyKindDefinition,
  isNews: () => true,
  free: ({ template }) => cache.list(TestConfig, { namespace: template.namespace }).length,
  isProvided: ({ name }) => provided.has(name ?? ""),
};

beforeEach(async () => {
  provided.clear();
  clock = new VirtualClock();
  const random = seededRandom(1);
  server = await createApiServer({ store: memoryStore(), clock, random });
  const kinds = [Cluster, Machine, MachineDeployment, WorkerPool, TestMachine, TestMachineTemplate, TestConfig];
  await server.registerCrds(kinds.map((kind) => kind.crd()));
  client = new Client(server.admin(), { fieldManager: "test", clock });
  cache = new Cache(new Client(server.admin(), { fieldManager: "capstan", clock }), { clock, random });
  addWorkerPoolIndexes(cache);
  stopping = new AbortController();
  running = startControllers(
    [workerPoolController([source])],
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
const timeNow = (): string => new Date(clock.now()).toISOString().replace(/\.\d+Z/, "Z");

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
    const time = timeNow();
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

test("a machine is not late because of time when no manager ran", async () => {
  await client.create(pool(1, [member("metal", { cost: "0.10" }), member("cloud", { cost: "0.50" })]));
  await quiet();
  await machines("metal", 1, { reason: "NotReady" });
  const longAgo = new Date(clock.now() - 86_400_000).toISOString().replace(/\.\d+Z/, "Z");
  const condition = { type: "Available", status: "False", reason: "X", message: "", lastTransitionTime: longAgo };
  const key = { kind: Machine, namespace: "default", name: "general-metal-0" };
  await client.patchStatus(key, { status: { conditions: [condition] } });
  await quiet(500_000);
  expect(await replicas()).toEqual({ "general-cloud": 0, "general-metal": 1 });
  await quiet(110_000);
  expect(await replicas()).toEqual({ "general-cloud": 1, "general-metal": 0 });
});

test("reports replicas that fit nowhere", async () => {
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

const key = { kind: WorkerPool, namespace: "default", name: "general" };
const existing = async (): Promise<WorkerPool> => {
  const found = await client.get(WorkerPool, key);
  if (found === undefined) throw new Error("the pool does not exist");
  return found;
};

/** A pool whose first member had trouble and cools down while the second one carries the pool. */
async function coolingDown(trouble: object, afterMs: number): Promise<void> {
  const hosts = { cost: "0.10", infrastructureRef: reference("TestMachineTemplate") };
  await client.create(pool(3, [member("hosts", hosts), member("cloud", { cost: "0.50" })]));
  await quiet();
  await machines("hosts", 3, trouble);
  await quiet(afterMs);
  for (let i = 0; i < 3; i++) await client.delete({ kind: Machine, namespace: "default", name: `general-hosts-${i}` });
  await machines("cloud", 3, undefined);
  await quiet();
  expect((await existing()).status?.members?.[0]?.state).toBe("CoolingDown");
  expect(await replicas()).toEqual({ "general-cloud": 3, "general-hosts": 0 });
}

const addHost = async (name: string): Promise<void> => {
  await client.create(object(TestConfig.apiVersion, TestConfig.kind, name, {}));
};

test("a host that becomes free is used at once by a member that had nothing left to give", async () => {
  await coolingDown({ reason: "InsufficientCapacity" }, 1000);
  const cooling = (await existing()).status?.members?.[0];
  expect(cooling).toMatchObject({ cause: "Full", reason: "CoolingDown" });
  expect(cooling?.message).toMatch(
    /as soon as its provider has a free host, or with: capstan retry workerpool general -n default$/,
  );
  await addHost("new");
  await quiet(0);
  expect(await replicas()).toEqual({ "general-cloud": 3, "general-hosts": 1 });
  // It has been asked for: the same host is not counted twice.
  await quiet(60_000);
  expect(await replicas()).toEqual({ "general-cloud": 3, "general-hosts": 1 });
});

test("replicas that fitted nowhere go to new hosts, as many as there are", async () => {
  await client.create(pool(3, [member("hosts", { infrastructureRef: reference("TestMachineTemplate") })]));
  await quiet();
  await machines("hosts", 3, { reason: "InsufficientCapacity" });
  await quiet();
  for (let i = 0; i < 3; i++) await client.delete({ kind: Machine, namespace: "default", name: `general-hosts-${i}` });
  await quiet();
  expect(await replicas()).toEqual({ "general-hosts": 0 });
  await addHost("one");
  await addHost("two");
  await quiet(0);
  expect(await replicas()).toEqual({ "general-hosts": 2 });
});

test("a member whose machines failed cools down whatever hosts are free, until a person asks to retry", async () => {
  await coolingDown({ reason: "NotReady" }, 601_000);
  await addHost("new");
  await quiet();
  expect(await replicas()).toEqual({ "general-cloud": 3, "general-hosts": 0 });
  // The clock of whoever asks may be wrong.
  await client.patch(key, { metadata: { annotations: { [RETRY_ANNOTATION]: "2099-01-01T00:00:00Z" } } });
  await quiet();
  expect((await existing()).status?.members?.[0]?.state).toBe("Active");
  expect(await replicas()).toEqual({ "general-cloud": 3, "general-hosts": 1 });
});

test("a member whose Machine joined and broke later gets a free host at once, and says which members cool down", async () => {
  await client.create(pool(2, [member("hosts", { infrastructureRef: reference("TestMachineTemplate") })]));
  await quiet();
  await machines("hosts", 2, undefined);
  provided.add("general-hosts-0");
  const broken = { kind: Machine, namespace: "default", name: "general-hosts-1" };
  const lost = { type: "Available", status: "False", reason: "NotReady", message: "", lastTransitionTime: timeNow() };
  await client.patchStatus(broken, { status: { nodeRef: { name: "n1" }, conditions: [lost] } });
  await quiet(601_000);
  expect(await replicas()).toEqual({ "general-hosts": 1 });
  await client.delete(broken);
  await quiet();
  const { conditions, members } = (await existing()).status ?? {};
  expect(members?.[0]).toMatchObject({ state: "CoolingDown", cause: "Broken" });
  expect(conditions?.find(({ type }) => type === "Placed")?.message).toBe(
    "1 replicas do not fit into any member (hosts cooling down): run capstan retry workerpool general -n default, raise a member's max, add a member, or free capacity",
  );
  await addHost("new");
  await quiet(0);
  expect(await replicas()).toEqual({ "general-hosts": 2 });
});

test("an old retry does not end a later cool-down", async () => {
  await client.create({
    ...pool(1, [member("hosts", { cost: "0.10" }), member("cloud", { cost: "0.50" })]),
    metadata: {
      name: "general",
      namespace: "default",
      annotations: { [RETRY_ANNOTATION]: "2099-01-01T00:00:00Z" },
    },
  });
  await quiet();
  await machines("hosts", 1, { reason: "InsufficientCapacity" });
  await quiet();
  await client.delete({ kind: Machine, namespace: "default", name: "general-hosts-0" });
  await quiet();
  expect((await existing()).status?.members?.[0]).toMatchObject({ state: "CoolingDown", cause: "Full" });
});

test("counts the Machines that are up to date, and is stuck when a member's rollout is", async () => {
  await client.create(pool(2, [member("metal")]));
  await quiet();
  await machines("metal", 2, undefined);
  const lastTransitionTime = new Date(clock.now()).toISOString().replace(/\.\d+Z/, "Z");
  await client.patchStatus(
    { kind: Machine, namespace: "default", name: "general-metal-0" },
    {
      status: {
        conditions: [{ type: "UpToDate", status: "True", reason: "UpToDate", message: "", lastTransitionTime }],
      },
    },
  );
  const stuck = {
    type: "Progressing",
    status: "False",
    reason: "ProgressDeadlineExceeded",
    message: "no progress for 10m: Machine x has not joined; do this",
    lastTransitionTime,
  };
  await client.patchStatus(
    { kind: MachineDeployment, namespace: "default", name: "general-metal" },
    { status: { conditions: [stuck] } },
  );
  await quiet();
  const { status } = await existing();
  expect(status).toMatchObject({ upToDateReplicas: 1, members: [{ name: "metal", upToDate: 1 }] });
  expect(status?.conditions?.find(({ type }) => type === "Progressing")).toMatchObject({
    status: "False",
    reason: "ProgressDeadlineExceeded",
    message: "no progress for 10m: member metal: Machine x has not joined; do this",
  });
});

test("replicas that fit nowhere for the deadline are a stuck rollout", async () => {
  await client.create(pool(5, [member("metal", { max: 2 })]));
  await quiet();
  const progress = async (): Promise<unknown> =>
    (await existing()).status?.conditions?.find(({ type }) => type === "Progressing");
  expect(await progress()).toMatchObject({ status: "True", reason: "Progressing" });
  await quiet(601_000);
  expect(await progress()).toMatchObject({
    status: "False",
    reason: "ProgressDeadlineExceeded",
    message:
      "no progress for 10m: 3 replicas do not fit into any member; raise a member's max, add a member, or free capacity",
  });
});
