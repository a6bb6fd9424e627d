import { findCondition, formatTime, type Unstructured } from "@capstan/apimachinery";
import {
  array,
  boolean,
  Cluster,
  CustomResourceDefinition,
  conditionsOf,
  defineKind,
  integer,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  object,
  openObject,
  optional,
  string,
  WorkerPool,
} from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { addClusterIndexes } from "../cluster/indexes.ts";
import { addMachineIndexes } from "../shared/indexes.ts";
import { NAMESPACE, put, readyCluster, since } from "../testing/objects.ts";
import { crashAtEveryWrite, Plane } from "../testing/plane.ts";
import { addMachinePoolIndexes, machinePoolController } from "./machine-pool.controller.ts";
import { type MachinePoolStatusInput, phaseOf } from "./machine-pool.status.ts";

const kindOf = (group: string, kind: string) =>
  defineKind({
    group: `${group}.cluster.x-k8s.io`,
    version: "v1beta2",
    kind,
    plural: `${kind.toLowerCase()}s`,
    doc: "A kind of tests.",
    contracts: { v1beta2: "v1beta2" },
    schema: object({
      spec: optional(object({ providerIDList: optional(array(string())), providerID: optional(string()) })),
      status: optional(
        object({
          ready: optional(boolean()),
          replicas: optional(integer()),
          dataSecretName: optional(string()),
          infrastructureMachineKind: optional(string()),
          initialization: optional(openObject()),
        }),
      ),
    }),
  });
const Group = kindOf("infrastructure", "TestMachineGroup");
const Instance = kindOf("infrastructure", "TestInstance");
const Config = kindOf("bootstrap", "TestBootConfig");

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(): Promise<Plane> {
  const kinds = [Cluster, Machine, MachineSet, MachineDeployment, MachinePool, WorkerPool, Group, Instance, Config];
  const plane = await Plane.start({
    crds: kinds.map((kind) => kind.crd()),
    indexes: (cache) => {
      addClusterIndexes(cache);
      addMachineIndexes(cache);
      addMachinePoolIndexes(cache);
    },
    controllers: ({ workload, calls }) => [machinePoolController(workload, calls)],
  });
  planes.push(plane);
  return plane;
}

const named = (kind: { apiVersion: string; kind: string }, name: string, over: object = {}): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { namespace: NAMESPACE, name },
  spec: {},
  ...over,
});

const pool = (): Unstructured =>
  named(MachinePool, "p", {
    spec: {
      clusterName: "c",
      replicas: 2,
      template: {
        metadata: { labels: { tier: "x" } },
        spec: {
          clusterName: "c",
          version: "v1.34.4",
          bootstrap: { configRef: { apiGroup: Config.group, kind: Config.kind, name: "p" } },
          infrastructureRef: { apiGroup: Group.group, kind: Group.kind, name: "p" },
        },
      },
    },
  });

const node = (plane: Plane, name: string): Unstructured => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name },
  spec: {
    providerID: `test://${name}`,
    taints: [{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" }],
  },
  status: {
    conditions: [since("Ready", "True", formatTime(plane.clock.now() - 60_000))],
    nodeInfo: { kubeletVersion: "v1.34.4" },
  },
});

const NodeKind = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
const find = (plane: Plane) => plane.user.get(MachinePool, { namespace: NAMESPACE, name: "p" });

async function fill(plane: Plane): Promise<Client> {
  await put(plane.user, readyCluster("c", formatTime(plane.clock.now())));
  const workload = await plane.addWorkload(NAMESPACE, "c");
  await plane.user.create(pool());
  await plane.user.create(named(Config, "p"));
  await plane.user.create(named(Group, "p"));
  await plane.settle();
  return workload;
}

async function provision(plane: Plane, workload: Client, names: string[]): Promise<void> {
  await plane.user.patchStatus(named(Config, "p"), {
    status: { dataSecretName: "secret", initialization: { dataSecretCreated: true } },
  });
  for (const name of names) await put(workload, node(plane, name));
  await plane.user.patch(named(Group, "p"), { spec: { providerIDList: names.map((name) => `test://${name}`) } });
  await plane.user.patchStatus(named(Group, "p"), { status: { ready: true, replicas: names.length } });
  await plane.settle();
}

describe("a MachinePool", () => {
  test("goes from pending to running with Nodes, and tells them whose they are", async () => {
    const plane = await start();
    const workload = await fill(plane);
    expect((await find(plane))?.status).toMatchObject({ phase: "Pending" });
    const group = await plane.user.get(Group, { namespace: NAMESPACE, name: "p" });
    expect(group?.metadata.ownerReferences).toMatchObject([{ kind: "MachinePool", name: "p", controller: true }]);
    await provision(plane, workload, ["n0", "n1"]);
    const found = await find(plane);
    expect(found?.spec).toMatchObject({
      providerIDList: ["test://n0", "test://n1"],
      template: { spec: { bootstrap: { dataSecretName: "secret" } } },
    });
    expect(found?.metadata).toMatchObject({
      finalizers: ["machinepool.cluster.x-k8s.io"],
      labels: { "cluster.x-k8s.io/cluster-name": "c" },
      ownerReferences: [{ kind: "Cluster", name: "c" }],
    });
    expect(found?.status).toMatchObject({
      phase: "Running",
      replicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      upToDateReplicas: 2,
      nodeRefs: [{ name: "n0" }, { name: "n1" }],
      initialization: { infrastructureProvisioned: true, bootstrapDataSecretCreated: true },
    });
    expect(findCondition(conditionsOf(found ?? {}), "Available")).toMatchObject({ status: "True" });
    const seen = await workload.get(NodeKind, { name: "n0" });
    expect(seen?.metadata.annotations).toMatchObject({ "cluster.x-k8s.io/owner-kind": "MachinePool" });
    expect((seen?.["spec"] as { taints?: object[] } | undefined)?.taints ?? []).toEqual([]);
    const { writes } = plane;
    await plane.clock.advance(600_000);
    expect(plane.writes).toBe(writes);
    expect(plane.failures).toEqual([]);
  });

  test("deletes Nodes of instances that are gone, but not when the provider has lost its list", async () => {
    const plane = await start();
    const workload = await fill(plane);
    await provision(plane, workload, ["n0", "n1"]);
    await plane.user.patch(named(Group, "p"), { spec: { providerIDList: [] } });
    await plane.settle();
    expect(await workload.get(NodeKind, { name: "n0" })).toBeDefined();
    await plane.user.patch(named(Group, "p"), { spec: { providerIDList: ["test://n1"] } });
    await plane.user.patchStatus(named(Group, "p"), { status: { replicas: 1 } });
    await plane.settle();
    expect(await workload.get(NodeKind, { name: "n0" })).toBeUndefined();
    expect((await find(plane))?.status).toMatchObject({ phase: "ScalingUp", replicas: 1, nodeRefs: [{ name: "n1" }] });
  });

  test("has a Machine per infrastructure machine if the provider has those", async () => {
    const plane = await start();
    const workload = await fill(plane);
    await plane.user.create({
      ...named(Instance, "i0", { spec: { providerID: "test://n0" } }),
      metadata: {
        namespace: NAMESPACE,
        name: "i0",
        labels: { "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/pool-name": "p" },
      },
    } as Unstructured);
    await plane.user.patchStatus(named(Group, "p"), { status: { infrastructureMachineKind: Instance.kind } });
    await provision(plane, workload, ["n0"]);
    expect(plane.failures).toEqual([]);
    const machine = await plane.user.get(Machine, { namespace: NAMESPACE, name: "i0" });
    expect(machine).toMatchObject({
      metadata: {
        labels: { tier: "x", "cluster.x-k8s.io/pool-name": "p" },
        ownerReferences: [{ kind: "MachinePool" }],
      },
      spec: {
        bootstrap: { dataSecretName: "" },
        version: "v1.34.4",
        infrastructureRef: { kind: Instance.kind, name: "i0" },
      },
    });
  });

  test("is deleted after its provider's objects, and takes its Nodes along", async () => {
    const plane = await start();
    const workload = await fill(plane);
    await provision(plane, workload, ["n0", "n1"]);
    await plane.user.patch(named(Group, "p"), { metadata: { finalizers: ["test/hold"] } });
    await plane.user.delete(pool());
    await plane.settle();
    expect(findCondition(conditionsOf((await find(plane)) ?? {}), "Deleting")).toMatchObject({
      status: "True",
      message: "* TestMachineGroup p",
    });
    await plane.user.patch(named(Group, "p"), { metadata: { finalizers: [] } });
    await plane.clock.advance(1000);
    expect(await find(plane)).toBeUndefined();
    expect(await workload.get(NodeKind, { name: "n0" })).toBeUndefined();
  });

  test("waits in deletion for what it cannot read", async () => {
    const plane = await start();
    await fill(plane);
    const label = (version: string | null) =>
      plane.user.patch(
        { kind: CustomResourceDefinition, name: Group.crd().metadata.name ?? "" },
        { metadata: { labels: { "cluster.x-k8s.io/v1beta2": version } } },
      );
    await label(null);
    await plane.settle();
    await plane.user.delete(pool());
    await plane.settle(1000);
    expect(findCondition(conditionsOf((await find(plane)) ?? {}), "Deleting")?.message).toMatch(
      /^\* TestMachineGroup p cannot be read: .*has no label/,
    );
    await label("v1beta2");
    await plane.settle(20_000);
    expect(await find(plane)).toBeUndefined();
    expect(await plane.user.get(Group, { namespace: NAMESPACE, name: "p" })).toBeUndefined();
  });

  test("takes its Nodes along however long its provider needed, and waits its time for a silent cluster", async () => {
    const plane = await start();
    const workload = await fill(plane);
    await provision(plane, workload, ["n0", "n1"]);
    await plane.user.patch(named(Group, "p"), { metadata: { finalizers: ["test/hold"] } });
    await plane.user.delete(pool());
    await plane.clock.advance(60_000);
    await plane.user.patch(named(Group, "p"), { metadata: { finalizers: [] } });
    await plane.clock.advance(1000);
    expect(await find(plane)).toBeUndefined();
    expect((await workload.list(NodeKind)).items).toEqual([]);

    for (const object of [pool(), named(Config, "p"), named(Group, "p")]) await plane.user.create(object);
    await provision(plane, workload, ["n2", "n3"]);
    plane.setReachable(NAMESPACE, "c", false);
    await plane.clock.advance(60_000);
    await plane.user.delete(pool());
    await plane.clock.advance(5000);
    expect(await find(plane)).toBeDefined();
    await plane.clock.advance(10_000);
    expect(await find(plane)).toBeUndefined();
  });

  test("says what it waits for", async () => {
    const plane = await start();
    await put(plane.user, readyCluster("c", formatTime(plane.clock.now())));
    await plane.user.create(pool());
    await plane.settle();
    expect(findCondition(conditionsOf((await find(plane)) ?? {}), "InfrastructureReady")).toMatchObject({
      status: "False",
      message: "TestMachineGroup p does not exist; create it",
    });
    expect(plane.failures).toEqual([]);
  });

  test("goes with its Nodes and its provider's objects when killed after any write", async () => {
    const workloads = new Map<Plane, Client>();
    const writes = await crashAtEveryWrite({
      start: async () => {
        const plane = await start();
        const workload = await fill(plane);
        workloads.set(plane, workload);
        await provision(plane, workload, ["n0", "n1"]);
        return plane;
      },
      act: async (plane) => void (await plane.user.delete(pool())),
      wait: (plane) => plane.clock.advance(15_000),
      state: async (plane) => ({
        pool: await find(plane),
        group: await plane.user.get(Group, { namespace: NAMESPACE, name: "p" }),
        config: await plane.user.get(Config, { namespace: NAMESPACE, name: "p" }),
        nodes: (await workloads.get(plane)?.list(NodeKind))?.items.length,
      }),
      check: (actual, _, k) =>
        expect(actual, `crashed after write ${k}`).toEqual({
          pool: undefined,
          group: undefined,
          config: undefined,
          nodes: 0,
        }),
    });
    expect(writes).toBeGreaterThan(2);
  }, 300_000);

  test("ends the same when killed after any write", async () => {
    const writes = await crashAtEveryWrite({
      start,
      act: async (plane) => {
        const workload = await fill(plane);
        await provision(plane, workload, ["n0", "n1"]);
      },
      wait: (plane) => plane.clock.advance(15_000),
      state: async (plane) => {
        const status = (await find(plane))?.status;
        return { phase: status?.phase, nodes: status?.nodeRefs?.map(({ name }) => name), replicas: status?.replicas };
      },
      check: (actual, expected, k) => expect(actual, `crashed after write ${k}`).toEqual(expected),
    });
    expect(writes).toBeGreaterThan(5);
  });
});

describe("the phase", () => {
  const input = (over: object, metadata: object = {}, replicas = 2): MachinePoolStatusInput =>
    ({
      pool: { ...pool(), metadata: { ...metadata }, spec: { ...(pool()["spec"] as object), replicas } },
      bootstrapReady: false,
      infrastructureProvisioned: false,
      ...over,
    }) as unknown as MachinePoolStatusInput;
  const up = { bootstrapReady: true, infrastructureProvisioned: true };
  const managed = { annotations: { "cluster.x-k8s.io/replicas-managed-by": "autoscaler" } };
  test.each([
    [input({}), 0, 0, "Pending"],
    [input({ bootstrapReady: true }), 0, 0, "Provisioning"],
    [input({ bootstrapReady: true }), 0, 1, "Provisioned"],
    [input(up), 2, 2, "Running"],
    [input(up), 1, 1, "ScalingUp"],
    [input(up), 3, 3, "ScalingDown"],
    [input(up, managed), 1, 1, "Scaling"],
    [input(up, { annotations: { "cluster.x-k8s.io/replicas-managed-by": "false" } }), 1, 1, "ScalingUp"],
    [input(up, { deletionTimestamp: "x" }), 2, 2, "Deleting"],
  ] as const)("%#", (value, ready, nodes, expected) => {
    expect(phaseOf(value, ready, nodes)).toBe(expected);
  });
});
