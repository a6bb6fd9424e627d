import { Cluster, Machine } from "@capstan/capi";
import { PersistentVolumeClaim, type Pod, type PodStatus } from "@capstan/workloads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { running } from "../testing/outer.ts";
import { World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.start();
});
afterEach(() => world.close());

const scheduled = { type: "PodScheduled", status: "True" };
const claim = (name: string): object => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});
const fate = (status: PodStatus): void => {
  world.outer.runner.fate = () => status;
};

describe("the end of the node's container", () => {
  const terminated = { reason: "Error", exitCode: 1, message: '"kubeadm join" exited with code 1\nno route to host' };
  const sidecar = { name: "proxy", ready: true, started: true, state: { running: {} } };

  test("is a failed bootstrap although a sidecar keeps the pod running", async () => {
    fate({
      phase: "Running",
      conditions: [scheduled],
      containerStatuses: [{ name: "node", state: { terminated } }, sidecar],
    });
    await world.machine("m1", {
      podTemplate: { spec: { containers: [{ name: "node" }, { name: "proxy", image: "proxy" }] } },
    });
    expect(await world.condition()).toMatchObject({ status: "False", reason: "BootstrapFailed" });
    expect(await world.condition("BootstrapSucceeded")).toMatchObject({
      status: "False",
      message: expect.stringContaining("no route to host") as string,
    });
  });

  test("loses a machine that was up although a sidecar keeps the pod running", async () => {
    await world.machine("m1");
    fate({
      phase: "Running",
      conditions: [scheduled, { type: "Ready", status: "False" }],
      containerStatuses: [{ name: "node", state: { terminated: { reason: "OOMKilled", exitCode: 137 } } }, sidecar],
    });
    await world.pass(5);
    expect(await world.condition()).toMatchObject({ status: "False", reason: "PodOOMKilled" });
  });
});

describe("a node that its outer node lost while the bootstrap script ran", () => {
  const lost = [
    { reason: "ContainerStatusUnknown", exitCode: 137, message: "The container could not be located" },
    { reason: "Error", exitCode: 137 },
    { reason: "Unknown", exitCode: 255, message: "[  OK  ] Started containerd" },
  ];
  const bootstrap = async (): Promise<unknown> => (await world.condition("BootstrapSucceeded"))?.reason;

  test.each(lost)("is a lost pod and not a failed bootstrap: %j", async (terminated) => {
    fate({ phase: "Failed", conditions: [scheduled], containerStatuses: [{ name: "node", state: { terminated } }] });
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({ status: "False", reason: "NodeExited" });
    expect(await bootstrap()).toBe("WaitingForBootstrap");
    const machine = await world.client.get<Machine>(Machine, { namespace: "default", name: "m1" });
    expect(machine?.metadata.annotations).toHaveProperty(["cluster.x-k8s.io/remediate-machine"]);
  });

  test.each(lost)("is created again with recreationPolicy Always: %j", async (terminated) => {
    let uid: string | undefined;
    world.outer.runner.fate = (pod) =>
      (uid ??= pod.metadata.uid) === pod.metadata.uid
        ? { phase: "Failed", conditions: [scheduled], containerStatuses: [{ name: "node", state: { terminated } }] }
        : running(pod);
    await world.machine("m1", { recreationPolicy: "Always" });
    await world.pass(30);
    expect(await world.condition()).toMatchObject({ status: "True" });
  });
});

describe("a sidecar that does not start", () => {
  const pulling = { name: "proxy", state: { waiting: { reason: "ImagePullBackOff", message: "Back-off" } } };

  test("does not hide that the node runs", async () => {
    fate({
      phase: "Running",
      conditions: [scheduled],
      containerStatuses: [pulling, { name: "node", ready: true, started: true, state: { running: {} } }],
    });
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({ status: "True" });
  });

  test("does not hide that the node's bootstrap script runs", async () => {
    fate({
      phase: "Pending",
      conditions: [scheduled],
      containerStatuses: [pulling, { name: "node", ready: false, started: false, state: { running: {} } }],
    });
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({ reason: "Bootstrapping" });
  });

  test("does not hide why the node's container cannot start", async () => {
    const waiting = { reason: "CreateContainerError", message: "overlay on overlay" };
    fate({
      phase: "Pending",
      conditions: [scheduled],
      containerStatuses: [pulling, { name: "node", state: { waiting } }],
    });
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({ reason: "ContainerCannotStart" });
  });

  test("is reported while it keeps the node from starting", async () => {
    fate({
      phase: "Pending",
      conditions: [scheduled],
      initContainerStatuses: [pulling],
      containerStatuses: [{ name: "node", state: { waiting: { reason: "PodInitializing" } } }],
    });
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({
      reason: "ImagePullFailed",
      message: expect.stringContaining("container proxy") as string,
    });
  });
});

test("an init container that fails is named with its code and words", async () => {
  fate({
    phase: "Failed",
    conditions: [scheduled],
    initContainerStatuses: [
      { name: "prepare", state: { terminated: { reason: "Error", exitCode: 3, message: "no such disk" } } },
    ],
    containerStatuses: [{ name: "node", state: { waiting: { reason: "PodInitializing" } } }],
  });
  await world.machine("m1");
  expect(await world.condition()).toMatchObject({
    reason: "InitContainerFailed",
    message: expect.stringContaining("init container prepare exited with code 3: no such disk") as string,
  });
});

test("a reason that is no word is not taken over from the outer cluster", async () => {
  fate({ phase: "Failed", reason: "not a reason!\n", message: "something" });
  await world.machine("m1");
  expect(await world.condition()).toMatchObject({ status: "False", reason: "PodFailed" });
});

test("claims that wait for their first consumer do not hide that there is no room", async () => {
  world.outer.runner.claimPhase = "Pending";
  fate({
    phase: "Pending",
    conditions: [
      {
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message: "0/2 nodes are available: 2 Insufficient cpu.",
      },
    ],
  });
  await world.machine("m1", { volumeClaimTemplates: [claim("var-lib-kubelet")] });
  const [pending] = (await world.client.list(PersistentVolumeClaim)).items;
  await world.client.patchStatus(pending as PersistentVolumeClaim, { status: { phase: "Pending" } });
  await world.pass(5);
  expect(await world.condition()).toMatchObject({ reason: "InsufficientCapacity" });
});

test("a pod that fails at once, again and again, is created at most every five minutes", async () => {
  fate({ phase: "Failed", reason: "OutOfcpu", message: "Node didn't have enough resource: cpu" });
  await world.machine("m1", { recreationPolicy: "Always" });
  await world.pass(1800);
  const before = (await world.get()).status?.restarts ?? 0;
  await world.pass(3600);
  expect(((await world.get()).status?.restarts ?? 0) - before).toBeLessThanOrEqual(13);
  expect(((await world.get()).status?.restarts ?? 0) - before).toBeGreaterThanOrEqual(11);
});

test("a pod that is lost and never ends makes a person act, although nothing else happens", async () => {
  await world.machine("m1", { recreationPolicy: "Always", recreationTimeout: "5m" });
  // The embedded API deletes pods without grace; a kubelet that holds one is a finalizer here.
  const pod = (await world.pod()) as Pod;
  await world.client.patch(pod, { metadata: { finalizers: ["example.org/kubelet"] } });
  await world.client.delete(pod);
  await world.pass(240);
  expect(await world.condition()).toMatchObject({ reason: "Recreating" });
  await world.pass(150);
  expect(await world.condition()).toMatchObject({ reason: "RecreationTimeout" });
});

test("a pod that ran for long is created again at once, however often it was lost before", async () => {
  await world.machine("m1", { recreationPolicy: "Always" });
  for (let n = 1; n <= 6; n++) {
    await world.pass(400);
    await world.client.delete((await world.pod()) as Pod, { gracePeriodSeconds: 0 });
    await world.pass(5);
    expect((await world.get()).status?.restarts).toBe(n);
  }
});

test("a claim of another machine is not used, whose names together are the same", async () => {
  await world.machine("b-c", { volumeClaimTemplates: [claim("a")] });
  await world.machine("c", { volumeClaimTemplates: [claim("a-b")] });
  expect(await world.pod("c")).toBeUndefined();
  expect(await world.condition("Ready", "c")).toMatchObject({
    reason: "NameTaken",
    message: expect.stringContaining("PersistentVolumeClaim default/a-b-c") as string,
  });
});

test("without its KubernetesCluster nothing is made, in whichever cluster", async () => {
  const infra = await world.infra();
  await world.client.delete(infra);
  await world.pass(10);
  await expect(world.infra()).rejects.toThrow("does not exist");
  const cluster = await world.client.get<Cluster>(Cluster, { namespace: "default", name: "c1" });
  const deleted = {
    type: "InfrastructureReady",
    status: "False",
    reason: "ObjectDeleted",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  await world.client.patchStatus(cluster as Cluster, { status: { conditions: [deleted] } });
  await world.machine("m1");
  expect(await world.pod()).toBeUndefined();
  expect(await world.condition()).toMatchObject({ reason: "WaitingForKubernetesCluster" });
});
