import type { Unstructured } from "@capstan/apimachinery";
import { isControlPlaneMachine, Machine } from "@capstan/capi";
import { type Client, kindRef } from "@capstan/runtime";
import type { World } from "../../providers/controlplane-kubeadm/testdata/control-plane.tell.mjs";
import type { Plane } from "./plane.ts";

const API = "infrastructure.cluster.x-k8s.io/v1beta2";
const LOOK_MS = 400;
/** Address of the member that belongs to no Machine; it never starts, so that it has no name. */
const GHOST = "https://10.9.9.9:2380";
const PATIENCE_MS = 45 * 60_000;
const core = (kind: string, plural: string, namespaced: boolean, group = "") =>
  kindRef<Unstructured & { data?: Record<string, string> }>({ group, version: "v1", kind, plural, namespaced });
const ConfigMap = core("ConfigMap", "configmaps", true);
const Pod = core("Pod", "pods", true);
const DaemonSet = core("DaemonSet", "daemonsets", true, "apps");

/** The world of a story with our manager: machines in memory and virtual time. */
export function memoryWorld(plane: Plane): World {
  const { client, namespace, clock } = plane;
  const started = clock.now();
  const workload = (): Client => {
    const found = plane.workload("c");
    if (found === undefined) throw new Error("c is not connected");
    return found;
  };
  return {
    client,
    namespace,
    kinds: {
      cluster: "MemoryCluster",
      clusterTemplate: "MemoryClusterTemplate",
      machine: "MemoryMachine",
      template: "MemoryMachineTemplate",
    },
    now: () => clock.now(),
    sleep: (ms) => plane.pass(ms),
    lookMs: LOOK_MS,
    marksLooks: true,
    checkPatience: (step, { machines, plane: object }) => {
      if (clock.now() < started + PATIENCE_MS) return;
      const { conditions } = (object?.["status"] ?? {}) as { conditions?: unknown };
      throw new Error(`after ${step} there are ${machines.length} Machines: ${JSON.stringify(conditions, null, 1)}`);
    },
    infraCluster: ({ metadata, domains }) => ({
      apiVersion: API,
      kind: "MemoryCluster",
      metadata,
      spec: domains === undefined ? {} : { failureDomains: domains },
    }),
    template: ({ metadata, slow }) => ({
      apiVersion: API,
      kind: "MemoryMachineTemplate",
      metadata,
      spec: { template: { spec: slow ? { bootSeconds: 86_400 } : {} } },
    }),
    clusterTemplate: ({ metadata }) => ({
      apiVersion: API,
      kind: "MemoryClusterTemplate",
      metadata,
      spec: { template: { spec: {} } },
    }),
    machine: ({ metadata }) => ({ apiVersion: API, kind: "MemoryMachine", metadata, spec: {} }),
    members: () => membersOf(plane),
    workloadState: async () => {
      const found = plane.workload("c");
      if (found === undefined) return { kubeadmConfig: null, kubeProxy: null };
      const at = { namespace: "kube-system" };
      const config = await found.get(ConfigMap, { ...at, name: "kubeadm-config" });
      const proxy = await found.get(DaemonSet, { ...at, name: "kube-proxy" });
      const spec = proxy?.["spec"] as { template: { spec: { containers: { image: string }[] } } } | undefined;
      return {
        kubeadmConfig: config?.data?.["ClusterConfiguration"] ?? null,
        kubeProxy: spec?.template.spec.containers[0]?.image ?? null,
      };
    },
    component: async (component, node, ready) => {
      const status = { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] };
      await workload().patchStatus({ kind: Pod, namespace: "kube-system", name: `${component}-${node}` }, { status });
    },
    ghost: async () => {
      const [leader] = (await membersOf(plane))?.filter((member) => member.leader) ?? [];
      const member = plane.etcd("c", leader?.name ?? "");
      await member?.client.addMember(member.endpoint, GHOST, false);
    },
    setExpiry: async (machine, expiry) => {
      const target = {
        apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
        kind: "KubeadmConfig",
        metadata: { name: machine, namespace },
      };
      const annotations = { "machine.cluster.x-k8s.io/certificates-expiry": expiry };
      await client.patch(target, { metadata: { annotations } });
    },
  };
}

/** As the first member that answers lists them. */
async function membersOf(plane: Plane): Promise<{ name: string; leader: boolean }[] | undefined> {
  for (const machine of await plane.list(Machine)) {
    if (!isControlPlaneMachine(machine)) continue;
    const found = plane.etcd("c", machine.status?.nodeRef?.name ?? "");
    if (found === undefined) continue;
    const listed = await found.client.members(found.endpoint, { linearizable: true }).catch(() => undefined);
    if (listed === undefined) continue;
    const { leader } = await found.client.status(found.endpoint);
    return listed.map(({ id, name, peerUrls }) => ({
      name: peerUrls.includes(GHOST) ? "ghost-1" : name,
      leader: id === leader,
    }));
  }
  return undefined;
}
