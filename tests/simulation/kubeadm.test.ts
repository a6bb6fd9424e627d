import { Cluster, KubeadmControlPlane, Machine, Secret } from "@capstan/capi";
import { afterEach, expect, test } from "vitest";
import { kubeadmCluster } from "./kubeadm-manifests.ts";
import { fault, machinesOf, members, settled } from "./kubeadm-plane.ts";
import { Plane } from "./plane.ts";

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function started(...given: Parameters<typeof kubeadmCluster>): Promise<Plane> {
  const plane = await Plane.start({ own: 0, metal: 0 });
  planes.push(plane);
  await plane.apply(kubeadmCluster(...given));
  await settled(plane, "c1", given[1]);
  return plane;
}

async function change(plane: Plane, spec: object): Promise<void> {
  await plane.client.patch(await plane.get(KubeadmControlPlane, "c1"), { spec });
}

async function deleted(plane: Plane): Promise<void> {
  await plane.client.delete(await plane.get(Cluster, "c1"));
  await plane.gone("c1");
  await plane.pass(2_000);
  expect(await plane.list(Machine)).toEqual([]);
  expect((await plane.list(Secret)).map(({ metadata }) => metadata.name)).toEqual([]);
}

test("one machine starts with its workers, and everything is deleted with the Cluster", async () => {
  const plane = await started("c1", { workers: 1 });
  await deleted(plane);
}, 60_000);

test("scales from one to five machines and back to one", async () => {
  const plane = await started("c1");
  for (const replicas of [3, 5, 1]) {
    await change(plane, { replicas });
    await settled(plane, "c1", { replicas });
    expect(await members(plane, "c1")).toHaveLength(replicas);
  }
  await deleted(plane);
}, 120_000);

test("replaces three machines one after the other for another version", async () => {
  const plane = await started("c1", { replicas: 3 });
  const before = (await machinesOf(plane, "c1")).map(({ metadata }) => metadata.name);
  await change(plane, { version: "v1.35.0" });
  await settled(plane, "c1", { replicas: 3, version: "v1.35.0" });
  const after = await machinesOf(plane, "c1");
  expect(after.filter(({ metadata }) => before.includes(metadata.name))).toEqual([]);
  expect(await members(plane, "c1")).toHaveLength(3);
}, 120_000);

test("replaces a machine of three that dies, and two of five", async () => {
  const plane = await started("c1", { replicas: 3, healthCheck: true });
  for (const [replicas, dying] of [
    [3, 1],
    [5, 2],
  ] as const) {
    await change(plane, { replicas });
    await settled(plane, "c1", { replicas });
    const dead = (await machinesOf(plane, "c1")).slice(0, dying).map(({ metadata }) => metadata.name ?? "");
    for (const name of dead) await fault(plane, name, "NodeDies");
    await plane.until("they are replaced", async () => {
      const names = (await machinesOf(plane, "c1")).map(({ metadata }) => metadata.name ?? "");
      return !names.some((name) => dead.includes(name));
    });
    await settled(plane, "c1", { replicas });
    expect(await members(plane, "c1")).toHaveLength(replicas);
  }
}, 120_000);

test("a restart changes nothing", async () => {
  const plane = await started("c1", { replicas: 3, workers: 1, healthCheck: true });
  const before = (await plane.list(Machine)).map(({ metadata }) => metadata.uid);
  await plane.restartManager();
  await plane.pass(180_000);
  await settled(plane, "c1", { replicas: 3 });
  expect((await plane.list(Machine)).map(({ metadata }) => metadata.uid)).toEqual(before);
}, 120_000);
