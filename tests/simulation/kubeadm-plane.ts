import { findCondition } from "@capstan/apimachinery";
import { Cluster, conditionsOf, isControlPlaneMachine, KubeadmControlPlane, Machine } from "@capstan/capi";
import { kindRef } from "@capstan/runtime";
import type { Plane } from "./plane.ts";

const MemoryMachine = kindRef({
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MemoryMachine",
  plural: "memorymachines",
  namespaced: true,
});
const FAULT = "memory.infrastructure.cluster.x-k8s.io/fault";

/** The control plane Machines of a cluster, the oldest first. */
export async function machinesOf(plane: Plane, cluster: string): Promise<Machine[]> {
  const all = (await plane.list(Machine)).filter(
    (machine) => machine.spec.clusterName === cluster && isControlPlaneMachine(machine),
  );
  const created = ({ metadata }: Machine): string => metadata.creationTimestamp ?? "";
  return all.toSorted((a, b) => (created(a) < created(b) ? -1 : created(a) > created(b) ? 1 : 0));
}

/** Until the control plane has the machines that its spec wants, none is in deletion, and the Cluster is Available. */
export async function settled(
  plane: Plane,
  name: string,
  { replicas = 1, version }: { replicas?: number; version?: string } = {},
): Promise<void> {
  await plane.until(`${name} has ${replicas} machines`, async () => {
    const cluster = await plane.get(Cluster, name);
    const { status } = await plane.get(KubeadmControlPlane, name);
    const machines = await machinesOf(plane, name);
    return (
      findCondition(conditionsOf(cluster), "Available")?.status === "True" &&
      status?.availableReplicas === replicas &&
      status.upToDateReplicas === replicas &&
      machines.length === replicas &&
      (version === undefined || machines.every(({ spec }) => spec.version === version))
    );
  });
}

/** What etcd lists, as the first member sees it that answers. */
export async function members(plane: Plane, cluster: string): Promise<string[]> {
  for (const { status } of await machinesOf(plane, cluster)) {
    const member = plane.etcd(cluster, status?.nodeRef?.name ?? "");
    const listed = await member?.client.members(member.endpoint, { linearizable: true }).catch(() => undefined);
    if (listed !== undefined) return listed.map(({ name }) => name);
  }
  throw new Error(`no member of ${cluster} answers`);
}

/** Makes a machine fail, or recover without a fault. */
export async function fault(plane: Plane, machine: string, named: string | null): Promise<void> {
  const { infrastructureRef } = (await plane.get(Machine, machine)).spec;
  const object = await plane.get(MemoryMachine, infrastructureRef.name);
  await plane.client.patch(object, { metadata: { annotations: { [FAULT]: named } } });
}
