import { findCondition, type OwnerReference, type Unstructured } from "@capstan/apimachinery";
import { conditionsOf, Machine, MachineSet } from "@capstan/capi";
import { Pod } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { World } from "../testing/world.ts";

const AWAITS = "kubernetes.infrastructure.cluster.x-k8s.io/awaits-replacement";
let world: World;
let owner: OwnerReference;
beforeEach(async () => {
  world = await World.start();
  for (const name of ["outer-1", "outer-2"])
    await world.client.create<Unstructured>({ apiVersion: "v1", kind: "Node", metadata: { name } });
  const { apiVersion, kind } = MachineSet;
  const infrastructureRef = {
    apiGroup: "infrastructure.cluster.x-k8s.io",
    kind: "KubernetesMachineTemplate",
    name: "t",
  };
  const set = await world.client.create<Unstructured>({
    apiVersion,
    kind,
    metadata: { namespace: "default", name: "s" },
    spec: {
      clusterName: "c1",
      replicas: 2,
      selector: { matchLabels: { set: "s" } },
      template: { spec: { clusterName: "c1", bootstrap: { dataSecretName: "boot" }, infrastructureRef } },
    },
  });
  owner = { apiVersion, kind, name: "s", uid: set.metadata.uid ?? "", controller: true };
});
afterEach(() => world.close());

const machine = (name: string): Promise<Machine | undefined> =>
  world.client.get(Machine, { namespace: "default", name });

/** A machine on an outer node, of a MachineSet unless said otherwise. What core holds is a finalizer. */
async function place(
  name: string,
  node: string,
  options: { owned?: boolean; controlPlane?: boolean; spec?: object } = {},
): Promise<void> {
  world.outer.runner.keep.add(name);
  await world.machine(name, options.spec, { controlPlane: options.controlPlane === true });
  await world.client.createSubresource({ kind: Pod, namespace: "default", name }, "binding", {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { namespace: "default", name },
    target: { kind: "Node", name: node },
  });
  world.outer.runner.keep.delete(name);
  const made = (await machine(name)) as Machine;
  const owners = options.owned === false ? [] : [owner];
  await world.client.patch(made, {
    metadata: { finalizers: ["machine.cluster.x-k8s.io"], ownerReferences: owners, labels: { set: "s" } },
  });
  await world.pass(5);
  expect(await world.condition("Ready", name)).toMatchObject({ status: "True" });
}

async function cordon(name: string): Promise<void> {
  const node = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false } as const;
  await world.client.patch({ kind: node, name }, { spec: { unschedulable: true } });
  await world.pass(65);
}

async function nodeReady(name: string): Promise<void> {
  const conditions = [
    { type: "NodeReady", status: "True", reason: "NodeReady", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
  ];
  await world.client.patchStatus((await machine(name)) as Machine, { status: { conditions } });
  await world.pass(10);
}

const isDeleted = async (name: string): Promise<boolean> =>
  (await machine(name))?.metadata.deletionTimestamp !== undefined;

test("a worker on a cordoned outer node is replaced, and drained only when the replacement is ready", async () => {
  await place("m1", "outer-1");
  await place("m2", "outer-2");
  await cordon("outer-1");
  const leaving = await machine("m1");
  expect(leaving?.metadata.annotations?.[AWAITS]).toBeDefined();
  expect(leaving?.metadata.ownerReferences ?? [], "its set makes another one").toEqual([]);
  expect(leaving?.metadata.labels).not.toHaveProperty("set");
  expect(await isDeleted("m1")).toBe(false);
  expect((await machine("m2"))?.metadata.ownerReferences).toHaveLength(1);
  expect(await world.condition("OuterNodeStays")).toMatchObject({ status: "False", reason: "OuterNodeDrained" });
  await place("m3", "outer-2");
  expect(await isDeleted("m1"), "its Node is not ready yet").toBe(false);
  await nodeReady("m3");
  expect(await isDeleted("m1")).toBe(true);
  expect(await world.pod(), "the pod stays until the Node is drained").toBeDefined();
});

test.each(["ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption"])(
  "a worker on an outer node with taint %s is replaced",
  async (key) => {
    await place("m1", "outer-1");
    const node = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false } as const;
    await world.client.patch({ kind: node, name: "outer-1" }, { spec: { taints: [{ key, effect: "NoSchedule" }] } });
    await world.pass(65);
    expect((await machine("m1"))?.metadata.annotations?.[AWAITS]).toBeDefined();
  },
);

test("a worker on an outer node with another taint stays", async () => {
  await place("m1", "outer-1");
  const node = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false } as const;
  const taints = [{ key: "DeletionCandidateOfClusterAutoscaler", effect: "PreferNoSchedule" }];
  await world.client.patch({ kind: node, name: "outer-1" }, { spec: { taints } });
  await world.pass(65);
  expect((await machine("m1"))?.metadata.annotations?.[AWAITS]).toBeUndefined();
});

test("a worker whose pod is to be evicted and is not deleted yet is replaced", async () => {
  await place("m1", "outer-1");
  const { fate } = world.outer.runner;
  const target = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI", message: "evicted" };
  world.outer.runner.fate = (pod) => {
    const status = fate(pod);
    return { ...status, conditions: [...(status?.conditions ?? []), target] };
  };
  await world.pass(20);
  expect((await machine("m1"))?.metadata.annotations?.[AWAITS]).toBeDefined();
  expect((await world.condition("OuterNodeStays"))?.status).toBe("False");
});

test("of two workers that are replaced each waits for a replacement of its own", async () => {
  await place("m1", "outer-1");
  await place("m2", "outer-1");
  await cordon("outer-1");
  await place("m3", "outer-2");
  await nodeReady("m3");
  expect([await isDeleted("m1"), await isDeleted("m2")].filter((each) => each)).toHaveLength(1);
  await place("m4", "outer-2");
  await nodeReady("m4");
  expect([await isDeleted("m1"), await isDeleted("m2")]).toEqual([true, true]);
});

test("without a replacement a worker stays, whatever time passes, and says what to do", async () => {
  await place("m1", "outer-1");
  await cordon("outer-1");
  await world.pass(3600);
  expect(await isDeleted("m1")).toBe(false);
  expect((await world.condition("OuterNodeStays"))?.message).toContain("set disruptionProtection");
  await world.client.patch(await world.infra(), { spec: { disruptionProtection: "None" } });
  await world.pass(10);
  expect(await isDeleted("m1")).toBe(true);
});

test("a worker whose pod is lost while it waits for its replacement is deleted, because no health check selects it any more", async () => {
  await place("m1", "outer-1");
  await cordon("outer-1");
  expect(await isDeleted("m1")).toBe(false);
  await world.client.delete((await world.pod()) as Pod, { gracePeriodSeconds: 0 });
  await world.pass(5);
  expect(await isDeleted("m1")).toBe(true);
});

test("a worker whose pod has no room when it is created again is deleted once its replacement is ready", async () => {
  await place("m1", "outer-1", { spec: { recreationPolicy: "Always" } });
  await cordon("outer-1");
  world.outer.runner.statuses.set("m1", {
    phase: "Pending",
    conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" }],
  });
  const { fate } = world.outer.runner;
  world.outer.runner.fate = (pod) => (pod.metadata.name === "m1" ? undefined : fate(pod));
  await world.client.delete((await world.pod()) as Pod, { gracePeriodSeconds: 0 });
  await world.pass(5);
  expect(await world.condition()).toMatchObject({ reason: "InsufficientCapacity" });
  expect(await isDeleted("m1")).toBe(false);
  await place("m3", "outer-2");
  await nodeReady("m3");
  await world.pass(30);
  expect(await isDeleted("m1")).toBe(true);
});

test.each(["scaled down", "deleted"])("a worker whose MachineSet is %s in between is drained", async (how) => {
  await place("m1", "outer-1");
  await cordon("outer-1");
  const set = await world.client.get(MachineSet, { namespace: "default", name: "s" });
  if (how === "deleted") await world.client.delete(set as MachineSet);
  else await world.client.patch(set as MachineSet, { spec: { replicas: 0 } });
  await world.pass(10);
  expect(await isDeleted("m1")).toBe(true);
});

test("a worker that nothing would replace stays, and says what to do", async () => {
  await place("m1", "outer-1", { owned: false });
  await cordon("outer-1");
  expect((await machine("m1"))?.metadata.deletionTimestamp).toBeUndefined();
  const stays = findCondition(conditionsOf(await world.get()), "OuterNodeStays");
  expect(stays?.message).toContain("delete it to let the drain continue");
});

test("a control plane machine stays: the budget decides", async () => {
  await place("m1", "outer-1", { controlPlane: true });
  await cordon("outer-1");
  expect((await machine("m1"))?.metadata.deletionTimestamp).toBeUndefined();
});

test("with disruptionProtection None a worker stays", async () => {
  await world.client.patch(await world.infra(), { spec: { disruptionProtection: "None" } });
  await place("m1", "outer-1");
  await cordon("outer-1");
  expect((await machine("m1"))?.metadata.deletionTimestamp).toBeUndefined();
});
