import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, conditionsOf, Machine, MachineDeployment, WorkerPool } from "@capstan/capi";
import { expect, test } from "vitest";
import { crashAtEveryWrite, Plane } from "../testing/plane.ts";
import { addWorkerPoolIndexes, workerPoolController } from "./worker-pool.controller.ts";

const NAMESPACE = "default";
const make = (kind: { apiVersion: string; kind: string }, name: string, spec: object, labels = {}): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name, namespace: NAMESPACE, labels },
  spec,
});
const member = (name: string): object => ({
  name,
  infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryMachineTemplate", name: "t" },
  bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: "t" } },
});

/** A machine of the pool as the other controllers would have it: working, or without a host. */
async function machine(plane: Plane, of: string, works: boolean): Promise<void> {
  const labels = { "cluster.x-k8s.io/deployment-name": `general-${of}`, "capstan.dev/worker-pool": "general" };
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryMachine", name: of };
  const spec = { clusterName: "c1", bootstrap: { dataSecretName: "x" }, infrastructureRef };
  await plane.user.create(make(Machine, of, spec, labels));
  const condition = (type: string, status: string, reason: string): object => ({
    type,
    status,
    reason,
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  const conditions = works
    ? [condition("Available", "True", "Available")]
    : [condition("Available", "False", "NotReady"), condition("InfrastructureReady", "False", "InsufficientCapacity")];
  await plane.user.patchStatus({ kind: Machine, namespace: NAMESPACE, name: of }, { status: { conditions } });
}

test("killed after any write, overflow and a member that leaves end the same", { timeout: 60_000 }, async () => {
  const writes = await crashAtEveryWrite({
    start: () =>
      Plane.start({
        crds: [Cluster, Machine, MachineDeployment, WorkerPool].map((kind) => kind.crd()),
        indexes: addWorkerPoolIndexes,
        controllers: () => [workerPoolController()],
      }),
    act: async (plane) => {
      await plane.user.create(make(Cluster, "c1", { paused: false }));
      const template = { spec: { version: "v1.34.4" } };
      const members = [member("metal"), member("own"), member("old")];
      await plane.user.create(make(WorkerPool, "general", { clusterName: "c1", replicas: 1, template, members }));
      await plane.settle();
      await machine(plane, "metal", false);
      await plane.settle();
      await machine(plane, "own", true);
      await plane.user.patch(
        { kind: WorkerPool, namespace: NAMESPACE, name: "general" },
        { spec: { members: members.slice(0, 2) } },
      );
      await plane.settle();
    },
    wait: (plane) => plane.clock.advance(5_000),
    state: async (plane) => {
      const pool = await plane.user.get(WorkerPool, { namespace: NAMESPACE, name: "general" });
      const { items } = await plane.user.list(MachineDeployment, { namespace: NAMESPACE });
      return {
        replicas: Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.replicas])),
        owners: pool?.metadata.ownerReferences?.map(({ kind }) => kind),
        members: pool?.status?.members?.map(({ name, state, desired }) => `${name} ${state} ${desired}`),
        conditions: conditionsOf(pool ?? {}).map(({ type, status }) => `${type}=${status}`),
      };
    },
    check: (actual, expected, after) => expect(actual, `killed after write ${after}`).toEqual(expected),
  });
  expect(writes).toBeGreaterThanOrEqual(6);
});
