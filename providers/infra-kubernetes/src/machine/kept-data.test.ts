import { Cluster } from "@capstan/capi";
import { PersistentVolumeClaim, type Pod } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { World } from "../testing/world.ts";

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(() => world.close());

const IDENTITY = ["var-lib-etcd", "etc-kubernetes", "var-lib-kubelet"];

async function replicas(desiredReplicas: number): Promise<void> {
  const cluster = { kind: Cluster, namespace: "default", name: "c1" };
  await world.client.patchStatus(cluster, { status: { controlPlane: { desiredReplicas, replicas: desiredReplicas } } });
}

/** A control plane machine with these claims, of so many replicas. */
async function controlPlane(claims: readonly string[], desiredReplicas: number): Promise<void> {
  await replicas(desiredReplicas);
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const volumeClaimTemplates = claims.map((name) => ({ metadata: { name }, spec }));
  await world.machine("m1", { recreationPolicy: "Always", volumeClaimTemplates }, { controlPlane: true });
}

async function lose(): Promise<void> {
  await world.client.delete((await world.pod()) as Pod, { gracePeriodSeconds: 0 });
  await world.pass(30);
}

test.each([
  [[], 1, "no claim is mounted at /var/lib/etcd"],
  [["etc-kubernetes", "var-lib-kubelet"], 1, "no claim is mounted at /var/lib/etcd"],
  [["var-lib-etcd", "var-lib-kubelet"], 1, "/var/lib/kubelet is kept without /etc/kubernetes"],
  [["var-lib-etcd"], 3, "one of several replicas"],
] as const)(
  "refuses recreationPolicy Always for a control plane with the claims %j and %d replicas",
  async (claims, count, why) => {
    await controlPlane(claims, count);
    expect(await world.pod()).toBeUndefined();
    const condition = await world.condition();
    expect(condition).toMatchObject({ status: "False", reason: "PodTemplateInvalid" });
    expect(condition?.message).toContain(`recreationPolicy Always is refused for this control plane: ${why}`);
    expect(condition?.message).toContain("Set recreationPolicy: Never, or add volumeClaimTemplates");
  },
);

test.each([
  [["var-lib-etcd"], 1],
  [IDENTITY, 1],
  [IDENTITY, 3],
] as const)(
  "creates the lost pod of a control plane with the claims %j and %d replicas again",
  async (claims, count) => {
    await controlPlane(claims, count);
    await lose();
    expect(await world.condition()).toMatchObject({ status: "True" });
    expect((await world.get()).status?.restarts).toBe(1);
  },
);

test("does not create the lost pod of a control plane again when a claim with its data is deleted too", async () => {
  await controlPlane(IDENTITY, 1);
  const etcd = { kind: PersistentVolumeClaim, namespace: "default", name: "var-lib-etcd-m1" };
  await world.client.patch(etcd, { metadata: { finalizers: null } });
  await world.client.delete(etcd, { gracePeriodSeconds: 0 });
  await lose();
  expect(await world.pod()).toBeUndefined();
  const condition = await world.condition();
  expect(condition).toMatchObject({ status: "False", reason: "ClaimLost" });
  expect(condition?.message).toContain("var-lib-etcd-m1");
});

test("does not create the pod of a control plane again when it has become one of several", async () => {
  await controlPlane(["var-lib-etcd"], 1);
  await replicas(3);
  await lose();
  expect(await world.pod()).toBeUndefined();
  const condition = await world.condition();
  expect(condition).toMatchObject({ status: "False", reason: "PodLost" });
  expect(condition?.message).toContain("one of several replicas");
});

test("does not create the lost pod of a control plane that an older version accepted without the data of etcd", async () => {
  await replicas(1);
  const spec = { recreationPolicy: "Always", providerID: "kubernetes://default/m1" };
  await world.machine("m1", spec, { controlPlane: true });
  expect(await world.pod()).toBeUndefined();
  const condition = await world.condition();
  expect(condition).toMatchObject({ status: "False", reason: "PodLost" });
  expect(condition?.message).toContain("no claim is mounted at /var/lib/etcd");
});
