import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, Machine, MachineDeployment } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { NodeKind, PodKind } from "../drain/kinds.ts";
import {
  addCluster,
  conditionText,
  corePlane,
  deployment,
  existing,
  listed,
  templates,
} from "../testing/core-plane.ts";
import { addMachine, pod } from "../testing/machines.ts";
import { NAMESPACE } from "../testing/objects.ts";
import { crashAtEveryWrite, type Plane } from "../testing/plane.ts";
import { TestConfig, TestMachine } from "../testing/test-infrastructure.ts";

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(): Promise<{ plane: Plane; workload: Client }> {
  const plane = await corePlane();
  planes.push(plane);
  return { plane, workload: await addCluster(plane) };
}

const M1 = { kind: Machine, namespace: NAMESPACE, name: "m1" };

describe("Machine", () => {
  test("reaches its Node and tells it what it should know", async () => {
    const { plane, workload } = await start();
    const taints = [
      { key: "a", effect: "NoSchedule", propagation: "Always" },
      { key: "b", effect: "NoSchedule", propagation: "OnInitialization" },
    ];
    await addMachine(plane, "m1", { spec: { taints } });
    const machine = await existing(plane, Machine, "m1");
    expect(machine.status).toMatchObject({
      phase: "Running",
      nodeRef: { name: "m1" },
      nodeInfo: { kubeletVersion: "v1.34.4" },
      failureDomain: "fd-1",
      initialization: { infrastructureProvisioned: true, bootstrapDataSecretCreated: true },
    });
    expect(machine.spec).toMatchObject({ providerID: "test://m1", bootstrap: { dataSecretName: "m1" } });
    expect(machine.metadata).toMatchObject({
      finalizers: ["machine.cluster.x-k8s.io"],
      ownerReferences: [{ kind: "Cluster", name: "c1" }],
      labels: { "cluster.x-k8s.io/cluster-name": "c1" },
    });
    for (const type of [
      "Ready",
      "Available",
      "BootstrapConfigReady",
      "InfrastructureReady",
      "NodeHealthy",
      "NodeReady",
    ])
      expect(conditionText(machine, type)).toMatch(/^True/);
    const infrastructure = await existing(plane, TestMachine, "m1");
    expect(infrastructure.metadata.ownerReferences).toMatchObject([{ kind: "Machine", name: "m1", controller: true }]);

    const node = await workload.get(NodeKind, { name: "m1" });
    expect(node?.metadata.labels).toMatchObject({
      "node-role.kubernetes.io/worker": "",
      "node.cluster.x-k8s.io/rack": "r1",
    });
    expect(node?.metadata.labels?.["team"]).toBeUndefined();
    expect(node?.metadata.annotations).toMatchObject({
      "cluster.x-k8s.io/cluster-name": "c1",
      "cluster.x-k8s.io/machine": "m1",
      "cluster.x-k8s.io/labels-from-machine": "node-role.kubernetes.io/worker,node.cluster.x-k8s.io/rack",
    });
    expect(node?.spec?.taints?.map(({ key }) => key)).toEqual(["a", "b"]);

    // What the Machine takes back goes; what it gave only for the beginning stays as others leave it.
    await plane.user.patch(M1, {
      metadata: { labels: { "node.cluster.x-k8s.io/rack": null } },
      spec: { taints: null },
    });
    await plane.settle(1000);
    const after = await workload.get(NodeKind, { name: "m1" });
    expect(after?.metadata.labels?.["node.cluster.x-k8s.io/rack"]).toBeUndefined();
    expect(after?.spec?.taints?.map(({ key }) => key)).toEqual(["b"]);
  });

  test("is Available only after minReadySeconds", async () => {
    const { plane } = await start();
    await addMachine(plane, "m1", { spec: { minReadySeconds: 60 } });
    expect(conditionText(await existing(plane, Machine, "m1"), "Available")).toBe("False/WaitingForMinReadySeconds");
    await plane.settle(60_000);
    expect(conditionText(await existing(plane, Machine, "m1"), "Available")).toBe("True/Available");
  });

  test("says what it waits for, and never goes back on what was reached", async () => {
    const { plane } = await start();
    const reference = (kind: string): object => ({ apiGroup: "infrastructure.cluster.x-k8s.io", kind, name: "none" });
    await addMachine(plane, "m1", { spec: { infrastructureRef: reference("TestMachine") } });
    await addMachine(plane, "m2", { spec: { infrastructureRef: reference("Nonsense") } });
    await addMachine(plane, "m3", { spec: { clusterName: "elsewhere" } });
    const text = async (name: string, type: string): Promise<string> =>
      conditionText(await existing(plane, Machine, name), type);
    expect(await text("m1", "InfrastructureReady")).toBe("False/ObjectDoesNotExist: TestMachine none does not exist");
    expect(await text("m2", "InfrastructureReady")).toMatch(/no CustomResourceDefinition for Nonsense/);
    expect(await text("m3", "InfrastructureReady")).toMatch(/Cluster elsewhere does not exist/);
    await addMachine(plane, "m4");
    await plane.user.patchStatus(
      { kind: TestMachine, namespace: NAMESPACE, name: "m4" },
      { status: { initialization: { provisioned: false } } },
    );
    await plane.settle(1000);
    expect((await existing(plane, Machine, "m4")).status?.initialization?.infrastructureProvisioned).toBe(true);
    expect(plane.failures).toEqual([]);
  });

  test("two Machines may not share an object", async () => {
    const { plane } = await start();
    await addMachine(plane, "m1");
    const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "TestMachine", name: "m1" };
    await addMachine(plane, "m2", { spec: { infrastructureRef } });
    expect(conditionText(await existing(plane, Machine, "m2"), "InfrastructureReady")).toMatch(/belongs to Machine m1/);
    await plane.user.delete({ kind: Machine, namespace: NAMESPACE, name: "m2" });
    await plane.settle(60_000);
    expect(await plane.user.get(TestMachine, { namespace: NAMESPACE, name: "m1" })).toBeDefined();
    expect(await plane.user.get(Machine, { namespace: NAMESPACE, name: "m2" })).toBeUndefined();
  });

  test("a Node that vanishes is noticed", async () => {
    const { plane, workload } = await start();
    await addMachine(plane, "m1");
    await workload.delete({ kind: NodeKind, name: "m1" });
    await plane.settle(1000);
    const machine = await existing(plane, Machine, "m1");
    expect(conditionText(machine, "NodeHealthy")).toMatch(/^False\/NodeDeleted: Node m1 has been deleted while/);
    expect(machine.status?.nodeRef).toEqual({ name: "m1" });
  });
});

describe("deleting a Machine", () => {
  test("leaves a Node alone that another machine has registered under its name", async () => {
    const { plane, workload } = await start();
    await addMachine(plane, "m1");
    await workload.delete({ kind: NodeKind, name: "m1" });
    await workload.create({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "m1" },
      spec: { providerID: "test://other" },
    } as Unstructured);
    await plane.settle(1000);
    const machine = await existing(plane, Machine, "m1");
    expect(conditionText(machine, "NodeHealthy")).toMatch(/^False\/NodeDeleted/);
    await plane.user.delete(M1);
    await plane.settle(60_000);
    expect(await plane.user.get(Machine, M1)).toBeUndefined();
    const node = await workload.get(NodeKind, { name: "m1" });
    expect(node?.spec?.unschedulable).toBeUndefined();
    expect(node?.metadata.annotations?.["cluster.x-k8s.io/machine"]).toBeUndefined();
  });

  test("waits for hooks, drains by rules and budgets, waits for volumes, and removes the Node", async () => {
    const { plane, workload } = await start();
    await addMachine(plane, "m1");
    await plane.user.create({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineDrainRule",
      metadata: { namespace: NAMESPACE, name: "late" },
      spec: { drain: { behavior: "Drain", order: 10 }, pods: [{ selector: { matchLabels: { app: "late" } } }] },
    } as Unstructured);
    await pod(workload, "early", { app: "early" });
    await pod(workload, "late", { app: "late" });
    await pod(workload, "kept", { "cluster.x-k8s.io/drain": "skip" });
    await pod(workload, "static", {}, { annotations: { "kubernetes.io/config.mirror": "x" } });
    await workload.create({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { namespace: "default", name: "early" },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: "early" } } },
    } as Unstructured);
    await workload.patchStatus(
      { kind: NodeKind, name: "m1" },
      { status: { volumesAttached: [{ name: "v", devicePath: "" }] } },
    );
    const hook = "pre-drain.delete.hook.machine.cluster.x-k8s.io/x";
    const lastHook = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/y";
    await plane.user.patch(M1, { metadata: { annotations: { [hook]: "", [lastHook]: "" } } });
    await plane.user.delete(M1);
    const deleting = async (): Promise<string> => {
      await plane.settle(5000);
      return conditionText(await existing(plane, Machine, "m1"), "Deleting");
    };
    const pods = async (): Promise<string[]> =>
      (await workload.list(PodKind, { namespace: "default" })).items.map(({ metadata }) => metadata.name ?? "").sort();
    expect(await deleting()).toMatch(/^True\/WaitingForPreDrainHook/);
    expect(await pods()).toEqual(["early", "kept", "late", "static"]);

    await plane.user.patch(M1, { metadata: { annotations: { [hook]: null } } });
    expect(await deleting()).toMatch(
      /DrainingNode: .*\n\* Pods default\/early: .*disruption budget early needs 1 healthy pods/s,
    );
    expect((await workload.get(NodeKind, { name: "m1" }))?.spec?.unschedulable).toBe(true);
    // The later Pod waits for the earlier one although nothing else holds it.
    expect(await pods()).toEqual(["early", "kept", "late", "static"]);

    const budgets = {
      group: "policy",
      version: "v1",
      kind: "PodDisruptionBudget",
      plural: "poddisruptionbudgets",
      namespaced: true,
    };
    await workload.delete({ kind: budgets, namespace: "default", name: "early" });
    expect(await deleting()).toMatch(/WaitingForVolumeDetach: .*Volumes still attached to the Node: v/s);
    expect(await pods()).toEqual(["kept", "static"]);

    await workload.patchStatus({ kind: NodeKind, name: "m1" }, { status: { volumesAttached: null } });
    expect(await deleting()).toMatch(/WaitingForPreTerminateHook/);
    expect(await plane.user.get(TestMachine, { namespace: NAMESPACE, name: "m1" })).toBeDefined();

    await plane.user.patch(M1, { metadata: { annotations: { [lastHook]: null } } });
    await plane.settle(5000);
    expect(await plane.user.get(Machine, M1)).toBeUndefined();
    expect(await listed(plane, TestMachine)).toEqual([]);
    expect(await listed(plane, TestConfig)).toEqual([]);
    expect(await workload.get(NodeKind, { name: "m1" })).toBeUndefined();
    for (const event of ["SuccessfulDrainNode", "NodeVolumesDetached"])
      expect(plane.events.filter(({ reason }) => reason === event)).toHaveLength(1);
    expect(plane.failures).toEqual([]);
  });

  test("a rule with a bad selector is reported and holds up nothing", async () => {
    const { plane, workload } = await start();
    await addMachine(plane, "m1");
    await plane.user.create({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineDrainRule",
      metadata: { namespace: NAMESPACE, name: "bad" },
      spec: {
        drain: { behavior: "Skip" },
        machines: [{ selector: { matchLabels: { a: "b c" } } }],
        pods: [{ namespaceSelector: { matchExpressions: [{ key: "x", operator: "In" }] } }],
      },
    } as Unstructured);
    await pod(workload, "busy", { "cluster.x-k8s.io/drain": "wait-completed" });
    await workload.patchStatus(
      { kind: NodeKind, name: "m1" },
      { status: { volumesAttached: [{ name: "v", devicePath: "" }] } },
    );
    await plane.settle();
    await plane.user.delete(M1);
    await plane.settle(5000);
    const told =
      /MachineDrainRule bad matches nothing there: spec.machines\[0\].selector is not a valid selector, correct it: .*b c/;
    const text = conditionText(await existing(plane, Machine, "m1"), "Deleting");
    expect(text).toMatch(/DrainingNode: .*default\/busy/s);
    expect(text).toMatch(told);
    expect(text).toContain("spec.pods[0].namespaceSelector is not a valid selector");
    const events = plane.events.filter(({ reason }) => reason === "InvalidMachineDrainRule");
    expect(events.map(({ note }) => note)).toEqual([
      expect.stringMatching(told),
      expect.stringContaining("spec.pods[0].namespaceSelector"),
    ]);

    await workload.delete({ kind: PodKind, namespace: "default", name: "busy" });
    await plane.settle(5000);
    expect(conditionText(await existing(plane, Machine, "m1"), "Deleting")).toMatch(
      /WaitingForVolumeDetach: .* v\n.*bad/s,
    );
    await workload.patchStatus({ kind: NodeKind, name: "m1" }, { status: { volumesAttached: null } });
    await plane.settle(5000);
    expect(await plane.user.get(Machine, M1)).toBeUndefined();
    expect(plane.failures).toEqual([]);
  });

  test("a drain ends at its timeout", async () => {
    const { plane, workload } = await start();
    await addMachine(plane, "m1", { spec: { deletion: { nodeDrainTimeoutSeconds: 30 } } });
    await pod(workload, "busy", { "cluster.x-k8s.io/drain": "wait-completed" });
    await plane.user.delete(M1);
    await plane.settle(20_000);
    expect(conditionText(await existing(plane, Machine, "m1"), "Deleting")).toMatch(/DrainingNode/);
    await plane.settle(20_000);
    expect(await plane.user.get(Machine, M1)).toBeUndefined();
  });

  test("goes with its Pods, Node and objects when killed after any write", async () => {
    const clients = new Map<Plane, Client>();
    const writes = await crashAtEveryWrite({
      start: async () => {
        const { plane, workload } = await start();
        clients.set(plane, workload);
        await addMachine(plane, "m1");
        await pod(workload, "busy", {});
        return plane;
      },
      act: async (plane) => void (await plane.user.delete(M1)),
      wait: (plane) => plane.settle(30_000),
      state: async (plane) => ({
        machines: (await listed(plane, Machine)).length,
        infrastructure: (await listed(plane, TestMachine)).length,
        configs: (await listed(plane, TestConfig)).length,
        nodes: (await clients.get(plane)?.list(NodeKind))?.items.length,
        pods: (await clients.get(plane)?.list(PodKind))?.items.length,
      }),
      check: (actual, _, k) =>
        expect(actual, `crashed after write ${k}`).toEqual({
          machines: 0,
          infrastructure: 0,
          configs: 0,
          nodes: 0,
          pods: 0,
        }),
    });
    expect(writes).toBeGreaterThan(3);
  }, 300_000);

  test("a dead workload cluster holds up only its own Machines, until an annotation says otherwise", async () => {
    const { plane } = await start();
    await addMachine(plane, "m1");
    await addCluster(plane, "c2");
    plane.setReachable(NAMESPACE, "c1", false);
    await plane.settle(30_000);
    await plane.user.delete(M1);
    await addMachine(plane, "m2", { spec: { clusterName: "c2" } });
    expect((await existing(plane, Machine, "m2")).status?.phase).toBe("Running");
    await plane.settle(60_000);
    expect(conditionText(await existing(plane, Machine, "m1"), "Deleting")).toMatch(
      /Cannot reach the workload cluster/,
    );
    await plane.user.patch(M1, {
      metadata: {
        annotations: {
          "machine.cluster.x-k8s.io/exclude-node-draining": "",
          "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach": "",
        },
      },
    });
    await plane.settle(60_000);
    expect(await plane.user.get(Machine, M1)).toBeUndefined();
  });
});

describe("everything deleted at once, in any order", () => {
  test.each([
    ["the namespace", ["namespace"]],
    ["the Cluster first", ["cluster", "deployment", "templates"]],
    ["templates first", ["templates", "deployment", "cluster"]],
    ["the kubeconfig first", ["kubeconfig", "cluster"]],
  ])("%s", async (_, order) => {
    const plane = await corePlane();
    planes.push(plane);
    const namespace = "team";
    await plane.user.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } } as Unstructured);
    await addCluster(plane, "c1", namespace);
    for (const template of templates("t1", {}, namespace)) await plane.user.create(template);
    const md = deployment("md", "t1", 2);
    await plane.user.create({ ...md, metadata: { ...md.metadata, namespace } });
    await plane.settle(5000);
    expect(await listed(plane, Machine, namespace)).toHaveLength(2);
    for (const what of order) {
      if (what === "namespace") await plane.user.delete({ kind: NAMESPACES, name: namespace });
      if (what === "cluster") await plane.user.delete({ kind: Cluster, namespace, name: "c1" });
      if (what === "deployment") await plane.user.delete({ kind: MachineDeployment, namespace, name: "md" });
      if (what === "kubeconfig") await plane.user.delete({ kind: SECRETS, namespace, name: "c1-kubeconfig" });
      if (what === "templates")
        for (const template of templates("t1", {}, namespace)) await plane.user.delete(template);
    }
    await plane.settle(120_000);
    for (const kind of [Cluster, MachineDeployment, Machine, TestMachine, TestConfig])
      expect(await listed(plane, kind as typeof Machine, namespace)).toEqual([]);
    if (order[0] === "namespace") expect(await plane.user.get(NAMESPACES, { name: namespace })).toBeUndefined();
  });
});

const NAMESPACES = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
const SECRETS = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
