import type { KubeObject } from "@capstan/apimachinery";
import { Machine, type Node } from "@capstan/capi";
import { type Client, kindRef } from "@capstan/runtime";
import { afterEach, expect, test } from "vitest";
import { workers } from "./manifests.ts";
import { Plane } from "./plane.ts";

const INFRA = "apiGroup: infrastructure.cluster.x-k8s.io";
const NodeKind = kindRef<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
const Pod = kindRef({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });

const MemoryMachine = kindRef({
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MemoryMachine",
  plural: "memorymachines",
  namespaced: true,
});
const FAULT = "memory.infrastructure.cluster.x-k8s.io/fault";

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

const CLUSTER = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: c1, namespace: default }
spec:
  infrastructureRef: { ${INFRA}, kind: MemoryCluster, name: c1 }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryCluster
metadata: { name: c1, namespace: default }
spec: {}
`;

/** A stand-alone control plane Machine, as people write it without a control plane provider. */
const machine = (name: string, bootstrap: string): string => `
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata:
  name: ${name}
  namespace: default
  labels: { cluster.x-k8s.io/cluster-name: c1, cluster.x-k8s.io/control-plane: "" }
spec:
  clusterName: c1
  version: v1.34.4
  bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: ${name} } }
  infrastructureRef: { ${INFRA}, kind: MemoryMachine, name: ${name} }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfig
metadata: { name: ${name}, namespace: default }
spec: ${bootstrap}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryMachine
metadata: { name: ${name}, namespace: default, labels: { cluster.x-k8s.io/cluster-name: c1 } }
spec: {}
`;

const running = async (plane: Plane): Promise<string[]> =>
  (await plane.list(Machine))
    .filter(({ status }) => status?.phase === "Running")
    .map(({ metadata }) => metadata.name ?? "");

function workloadOf(plane: Plane): Client {
  const client = plane.workload("c1");
  if (client === undefined) throw new Error("c1 is not connected");
  return client;
}

async function started(): Promise<Plane> {
  const plane = await Plane.start({ own: 0, metal: 0 });
  planes.push(plane);
  await plane.apply(
    CLUSTER + machine("cp-1", '{ clusterConfiguration: { apiServer: { extraArgs: [{ name: v, value: "2" }] } } }'),
  );
  await plane.until("cp-1 runs", async () => (await running(plane)).includes("cp-1"));
  for (const name of ["cp-2", "cp-3"]) {
    await plane.apply(machine(name, "{ format: cloud-config }").trim());
    await plane.until(`${name} runs`, async () => (await running(plane)).includes(name));
  }
  return plane;
}

test("stand-alone control plane machines initialize and join, and workers join them", async () => {
  const plane = await started();
  await plane.apply(workers("c1", "memory", 2).trim());
  await plane.until("five machines run", async () => (await running(plane)).length === 5);
  const nodes = (await workloadOf(plane).list(NodeKind)).items;
  const marked = nodes.filter(({ spec }) =>
    spec?.taints?.some(({ key }) => key === "node-role.kubernetes.io/control-plane"),
  );
  expect(namesOf(marked)).toEqual(["cp-1", "cp-2", "cp-3"]);
  const { items: pods } = await workloadOf(plane).list(Pod, { namespace: "kube-system" });
  expect(namesOf(pods)).toEqual(
    ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"].flatMap((component) =>
      ["cp-1", "cp-2", "cp-3"].map((node) => `${component}-${node}`),
    ),
  );
}, 60_000);

test("the API survives a restart, and stops with the second of three machines", async () => {
  const plane = await started();
  await plane.restartManager();
  await plane.until("connected", async () => plane.workload("c1") !== undefined);
  await plane.pass(20_000);
  expect(await running(plane)).toEqual(["cp-1", "cp-2", "cp-3"]);
  await dies(plane, "cp-2");
  expect((await workloadOf(plane).list(NodeKind)).items).toHaveLength(3);
  const member = plane.etcd("c1", "cp-1");
  expect((await member?.client.members(member.endpoint))?.map(({ name }) => name)).toEqual(["cp-1", "cp-2", "cp-3"]);
  await dies(plane, "cp-3");
  await expect(member?.client.members(member.endpoint, { linearizable: true })).rejects.toThrow(
    "etcdserver: request timed out",
  );
  expect(plane.workload("c1")).toBeUndefined();
}, 60_000);

function namesOf(objects: readonly KubeObject[]): string[] {
  return objects.map(({ metadata }) => metadata.name ?? "").toSorted((a, b) => (a < b ? -1 : 1));
}

async function dies(plane: Plane, name: string): Promise<void> {
  const object = await plane.get(MemoryMachine, name);
  await plane.client.patch(object, { metadata: { annotations: { [FAULT]: "NodeDies" } } });
  await plane.pass(5_000);
}
