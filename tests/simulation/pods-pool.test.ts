import { Cluster, Machine, MachinePool } from "@capstan/capi";
import { KubernetesMachine, KubernetesMachinePool } from "@capstan/infra-kubernetes";
import { Pod } from "@capstan/workloads";
import { afterEach, expect, test, vi } from "vitest";
import { cluster, infraCluster } from "./manifests.ts";
import { Plane } from "./plane.ts";

vi.setConfig({ testTimeout: 120_000 });

let plane: Plane;
afterEach(() => plane.close());

const POOL = `
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: { name: pool, namespace: default }
spec:
  clusterName: c1
  replicas: 2
  template:
    spec:
      clusterName: c1
      version: v1.34.4
      bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: pool } }
      infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: KubernetesMachinePool, name: pool }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfig
metadata: { name: pool, namespace: default }
spec: { format: cloud-config }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: KubernetesMachinePool
metadata: { name: pool, namespace: default }
spec: { template: { resources: { limits: { cpu: "1" } } } }
`;

const scale = (replicas: number): Promise<unknown> =>
  plane.client.patch({ kind: MachinePool, namespace: "default", name: "pool" }, { spec: { replicas } });
const names = async (): Promise<string[]> =>
  (await plane.list(KubernetesMachine)).map(({ metadata }) => metadata.name ?? "");
const running = async (count: number): Promise<void> =>
  plane.until(`${count} machines of the pool run`, async () => {
    const machines = await plane.list(Machine);
    const pool = await plane.get(MachinePool, "pool");
    return (
      machines.length === count &&
      machines.every(({ status }) => status?.phase === "Running") &&
      pool.spec.providerIDList?.length === count &&
      pool.status?.readyReplicas === count
    );
  });

test("a MachinePool of pods scales, replaces machines of an older template one by one, and leaves nothing", async () => {
  plane = await Plane.start({ own: 0, metal: 0, pods: true });
  await plane.apply(cluster("c1", "KubernetesCluster") + infraCluster("kubernetes", "c1") + POOL);
  await running(2);
  const first = await names();
  expect((await plane.get(MachinePool, "pool")).spec.providerIDList?.toSorted()).toEqual(
    first.map((name) => `kubernetes://default/${name}`).toSorted(),
  );

  await scale(3);
  await plane.pass(400);
  await plane.restartManager();
  await running(3);
  expect(await names()).toEqual(expect.arrayContaining(first));
  await scale(1);
  await running(1);

  await scale(2);
  await running(2);
  const old = await names();
  let fewest = 2;
  await plane.client.patch(
    { kind: KubernetesMachinePool, namespace: "default", name: "pool" },
    { spec: { template: { resources: { limits: { cpu: "2" } } } } },
  );
  await plane.pass(1000);
  await plane.restartManager();
  await plane.until("all are replaced", async () => {
    const machines = await plane.list(Machine);
    const ready = machines.filter(({ status }) => status?.phase === "Running").length;
    fewest = Math.min(fewest, ready);
    return machines.length === 2 && !machines.some(({ metadata }) => old.includes(metadata.name ?? ""));
  });
  await running(2);
  expect(fewest, "a new machine is ready before an old one goes").toBe(2);
  for (const machine of await plane.list(KubernetesMachine))
    expect(machine.spec?.resources?.limits).toEqual({ cpu: "2" });

  await plane.client.delete({ kind: Cluster, namespace: "default", name: "c1" });
  await plane.gone("c1");
  expect(await plane.list(Pod)).toEqual([]);
  expect(await plane.list(KubernetesMachine)).toEqual([]);
});
