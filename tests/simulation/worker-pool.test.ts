import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, Machine, MachineDeployment, WorkerPool } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { BareMetalHost, Metal3Machine } from "@capstan/infra-metal3";
import { simulatedHosts } from "@capstan/manager";
import { afterEach, expect, test, vi } from "vitest";
import { cluster, infraCluster, metaCluster, templates } from "./manifests.ts";
import { unreachable } from "./move-graph.ts";
import { Plane } from "./plane.ts";

vi.setConfig({ testTimeout: 120_000 });

let plane: Plane;
afterEach(() => plane.close());

const member = (name: string, kind: string, more = ""): string => `
  - name: ${name}
    ${more}
    infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: ${kind}, name: ${name} }
    bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: ${name} } }`;

const POOL = `
---
apiVersion: capstan.dev/v1alpha1
kind: WorkerPool
metadata: { name: general, namespace: default }
spec:
  clusterName: c1
  replicas: 3
  strategy: Ordered
  template: { spec: { version: v1.34.4 } }
  overflow: { afterSeconds: 120, returnAfterSeconds: 300, maxUnavailable: 1 }
  members:${member("metal", "Metal3MachineTemplate")}${member("own", "ByoMachineTemplate")}
`;

async function schemes(): Promise<string[]> {
  const machines = (await plane.list(Machine)).filter(({ status }) => status?.phase === "Running");
  return machines.map(({ spec }) => String(spec.providerID?.split("://")[0])).sort();
}

test("bare metal that is used up overflows to own hosts, and returns when there is another host", async () => {
  plane = await Plane.start({ own: 2, metal: 2 });
  await plane.apply(
    cluster("c1", "MetaCluster") +
      metaCluster("c1", ["ByoCluster", "Metal3Cluster"]) +
      infraCluster("byoh", "c1") +
      infraCluster("metal3", "c1") +
      templates("metal3", "metal") +
      templates("byoh", "own") +
      POOL,
  );
  await plane.until("overflow", async () => (await schemes()).join() === "byoh,metal3,metal3");
  const pool = await plane.get(WorkerPool, "general");
  const metal = pool.status?.members?.find(({ name }) => name === "metal");
  // The machine without capacity is deleted; another is tried after the cool-down.
  expect(metal?.state).toBe("CoolingDown");
  const before = (await plane.list(Metal3Machine)).map(({ metadata }) => metadata.name);

  for (const object of simulatedHosts("default", { metal3: 3 }).slice(-2)) await plane.client.create(object);
  await plane.until("return", async () => (await schemes()).join() === "metal3,metal3,metal3");
  await plane.until("own host free", async () => (await plane.list(Machine)).length === 3);
  // No machine was replaced needlessly.
  expect((await plane.list(Metal3Machine)).map(({ metadata }) => metadata.name)).toEqual(
    expect.arrayContaining(before),
  );
  expect((await plane.list(BareMetalHost)).every(({ spec }) => spec.consumerRef !== undefined)).toBe(true);
  expect(await unreachable(plane)).toEqual([]);

  await plane.client.delete({ kind: Cluster, namespace: "default", name: "c1" });
  await plane.until("all gone", async () => (await plane.list(WorkerPool)).length === 0);
  expect(await plane.list(Machine)).toEqual([]);
});

test("uses an added host immediately, long before the cool-down is over", async () => {
  plane = await Plane.start({ own: 0, metal: 2 });
  await plane.apply(
    cluster("c1", "MetaCluster") +
      metaCluster("c1", ["ByoCluster", "Metal3Cluster"]) +
      infraCluster("byoh", "c1") +
      infraCluster("metal3", "c1") +
      templates("metal3", "metal") +
      templates("byoh", "own") +
      POOL.replace("replicas: 3", "replicas: 4").replace("returnAfterSeconds: 300", "returnAfterSeconds: 86400"),
  );
  const cooling = async (): Promise<string> =>
    ((await plane.get(WorkerPool, "general")).status?.members ?? [])
      .map(({ state, cause }) => `${state} ${cause}`)
      .join();
  await plane.until("all full", async () => (await cooling()) === "CoolingDown Full,CoolingDown Full");
  await plane.until("two", async () => (await schemes()).join() === "metal3,metal3");

  const [own] = simulatedHosts("default", { byoh: 1 });
  await plane.client.create(own as Unstructured);
  const claimed = async (): Promise<boolean> => (await plane.list(ByoHost)).some(({ spec }) => spec?.machineRef);
  for (let passed = 0; passed < 5_000 && !(await claimed()); passed += 200) await plane.pass(200);
  expect(await claimed(), "claimed within five seconds").toBe(true);

  for (const object of simulatedHosts("default", { metal3: 3 }).slice(-2)) await plane.client.create(object);
  await plane.until("four", async () => (await schemes()).join() === "byoh,metal3,metal3,metal3");
});

test("checking whether a full member has room again affects no machine", async () => {
  plane = await Plane.start({ own: 2, metal: 2 });
  await plane.apply(
    cluster("c1", "MetaCluster") +
      metaCluster("c1", ["ByoCluster", "Metal3Cluster"]) +
      infraCluster("byoh", "c1") +
      infraCluster("metal3", "c1") +
      templates("metal3", "metal") +
      templates("byoh", "own") +
      POOL.replace("returnAfterSeconds: 300", "returnAfterSeconds: 20"),
  );
  await plane.until("overflow", async () => (await schemes()).join() === "byoh,metal3,metal3");
  const running = async (): Promise<string[]> =>
    (await plane.list(Machine)).flatMap(({ status, metadata }) =>
      status?.phase === "Running" ? [metadata.name ?? ""] : [],
    );
  const settled = await running();
  // Each attempt and each refusal is a change of the requested number.
  const questions = async (): Promise<number> =>
    (await plane.get(MachineDeployment, "general-metal")).metadata.generation ?? 0;
  const before = await questions();
  for (let i = 0; i < 60; i++) {
    await plane.pass(2_000);
    expect(await running()).toEqual(settled);
  }
  expect(await questions()).toBeGreaterThanOrEqual(before + 6);
});

test("pods without room in the outer cluster overflow to your own hosts, at the outer scheduler's word", async () => {
  plane = await Plane.start({ own: 2, metal: 0, pods: true });
  const message = "0/1 nodes are available: 1 Insufficient memory.";
  const unschedulable = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  plane.podRunner.fate = () => ({ phase: "Pending", conditions: [unschedulable] });
  await plane.apply(
    cluster("c1", "MetaCluster") +
      metaCluster("c1", ["ByoCluster", "KubernetesCluster"]) +
      infraCluster("byoh", "c1") +
      infraCluster("kubernetes", "c1") +
      templates("kubernetes", "pods") +
      templates("byoh", "own") +
      POOL.replace("replicas: 3", "replicas: 2").replace(
        member("metal", "Metal3MachineTemplate"),
        member("pods", "KubernetesMachineTemplate"),
      ),
  );
  await plane.until("overflow", async () => (await schemes()).join() === "byoh,byoh");
  const pool = await plane.get(WorkerPool, "general");
  expect(pool.status?.members?.find(({ name }) => name === "pods")?.state).toBe("CoolingDown");
});
