import { ownerReference, type Unstructured } from "@capstan/apimachinery";
import { Machine, MachineDeployment, MachineSet } from "@capstan/capi";
import { MemoryMachine } from "@capstan/infra-memory";
import { afterEach, expect, test, vi } from "vitest";
import { cluster, infraCluster, workers } from "../simulation/manifests.ts";
import { Plane } from "../simulation/plane.ts";
import { attempt, TENANT, tenantOf } from "./tenant.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Attack: objects in the tenant's namespace name another namespace's object as their owner, and are counted as its replicas. */
const VICTIM = "victim";

let plane: Plane;
afterEach(() => plane.close());

async function victim(): Promise<void> {
  plane = await Plane.start({ own: 0, metal: 0, namespace: VICTIM });
  await plane.apply(cluster("c1", "MemoryCluster") + infraCluster("memory", "c1") + workers("c1", "memory", 1));
  await plane.available("c1", 1);
}

async function scaleTo(replicas: number): Promise<void> {
  const [deployment] = await plane.list(MachineDeployment);
  const { name = "" } = deployment?.metadata ?? {};
  await plane.client.patch({ kind: MachineDeployment, namespace: VICTIM, name }, { spec: { replicas } });
}

test("Machines of another namespace are not counted as replicas of a MachineSet", async () => {
  await victim();
  const mallory = await tenantOf(plane);
  const [set] = await plane.list(MachineSet);
  const before = (await plane.list(Machine))[0]?.metadata.uid;
  if (set === undefined) throw new Error("there is no MachineSet");
  for (let i = 0; i < 10; i++)
    await attempt(mallory, {
      apiVersion: Machine.apiVersion,
      kind: Machine.kind,
      metadata: {
        namespace: TENANT,
        name: `a-${i}`,
        labels: { ...set.spec.template.metadata?.labels },
        // The garbage collector finds no such owner here and deletes it: that must not be the end.
        finalizers: ["example.com/stay"],
        ownerReferences: [ownerReference(set, { controller: true })],
      },
      spec: {
        clusterName: "c1",
        version: "v1.34.4",
        bootstrap: { dataSecretName: "none" },
        infrastructureRef: { apiGroup: MemoryMachine.group, kind: MemoryMachine.kind, name: `a-${i}` },
      },
    } as Unstructured);
  await scaleTo(2);
  await plane.pass(60_000);
  const machines = await plane.list(Machine);
  expect(machines.map(({ status }) => status?.phase)).toEqual(["Running", "Running"]);
  expect(machines.map(({ metadata }) => metadata.uid)).toContain(before);
  expect((await plane.list(MachineSet))[0]?.status?.replicas).toBe(2);
});

test("an object of another namespace does not hold up the deletion of the owner that it names", async () => {
  await victim();
  const mallory = await tenantOf(plane);
  const [deployment] = await plane.list(MachineDeployment);
  if (deployment === undefined) throw new Error("there is no MachineDeployment");
  const said = await attempt(mallory, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      namespace: TENANT,
      name: "a",
      finalizers: ["example.com/stay"],
      ownerReferences: [ownerReference(deployment, { block: true })],
    },
  });
  expect(said).toBe("created");
  await plane.client.delete(deployment, { propagationPolicy: "Foreground" });
  await plane.pass(60_000);
  expect(await plane.list(MachineDeployment)).toEqual([]);
});
