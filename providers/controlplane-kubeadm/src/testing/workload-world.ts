import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import {
  type KubeadmControlPlane,
  type Machine,
  WorkloadCalls,
  type WorkloadClusters,
  type WorkloadConnection,
} from "@capstan/capi";
import { connectedCluster } from "@capstan/capi/testing";
import { Client, type ReconcileContext, silentLogger, silentRecorder } from "@capstan/runtime";
import { Pod } from "@capstan/workloads";
import { createWorkloadSide } from "../workload/create-workload-side.ts";
import type { ObserveOptions, PlaneTarget } from "../workload/workload-side.ts";
import { FakeEtcd } from "./fake-etcd.ts";

const COMPONENTS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"];

/** A workload cluster in memory with static pods, and an etcd that answers as a test says. */
export async function workloadWorld(controlPlane: object = {}) {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const api = await createApiServer({ store: memoryStore(), clock, random });
  const client = new Client(api.admin(), { fieldManager: "kubelet", clock });
  const connected = connectedCluster(api, clock);
  const state: { down: string | undefined; downSinceMs: number; atMachines: boolean } = {
    down: undefined,
    downSinceMs: 0,
    atMachines: false,
  };
  const workloads: WorkloadClusters = {
    get: (cluster): WorkloadConnection =>
      state.down === undefined
        ? connected.get(cluster)
        : { state: "down", since: state.downSinceMs, error: state.down },
    atMachines: (cluster) => (state.atMachines ? connected.get(cluster) : workloads.get(cluster)),
    subscribe: (listener) => connected.subscribe(listener),
  };
  const current = connected.get({ namespace: "default", name: "c1" });
  // The connection's client stays the same, as that of a real connection does.
  connected.get = () => current;
  const etcd = new FakeEtcd();
  const side = createWorkloadSide({
    workloads,
    calls: new WorkloadCalls(clock),
    ways: etcd,
    clock,
    random,
    log: silentLogger,
  });
  const events: string[] = [];
  const recorder = {
    ...silentRecorder,
    event: (_o: unknown, type: string, reason: string, _action: string, note: string) => {
      events.push(`${type} ${reason}: ${note}`);
    },
  };
  const context = { clock, random, log: silentLogger, recorder } as unknown as ReconcileContext;
  const machines: Machine[] = [];
  const cluster = { namespace: "default", name: "c1" };
  const target = (): PlaneTarget => ({
    cluster,
    controlPlane: {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmControlPlane",
      metadata: { namespace: "default", name: "cp" },
      spec: { version: "v1.37.1", ...controlPlane },
    } as unknown as KubeadmControlPlane,
    machines: [...machines],
    kubeadmConfigs: new Map(
      machines.map(({ metadata }) => [
        metadata.name ?? "",
        { metadata: {}, spec: { joinConfiguration: { controlPlane: {} } } } as never,
      ]),
    ),
    etcdManaged: true,
  });
  /** A Machine; with a Node if it has one. */
  const addMachine = (name: string, nodeName?: string, address = "10.0.0.1"): Machine => {
    const machine = {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: { namespace: "default", name },
      spec: { clusterName: "c1", bootstrap: {}, infrastructureRef: { kind: "ByoMachine", name, apiGroup: "x" } },
      status:
        nodeName === undefined ? {} : { nodeRef: { name: nodeName }, addresses: [{ type: "InternalIP", address }] },
    } as unknown as Machine;
    machines.push(machine);
    return machine;
  };
  const addNode = async (name: string, address: string): Promise<void> => {
    await client.create({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "node-role.kubernetes.io/control-plane": "" } },
      spec: { taints: [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }] },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        addresses: [{ type: "InternalIP", address }],
      },
    } as Unstructured);
    for (const component of COMPONENTS) await addPod(component, name, readyStatus());
  };
  const addPod = async (component: string, nodeName: string, status: object): Promise<void> => {
    await client.create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        namespace: "kube-system",
        name: `${component}-${nodeName}`,
        labels: { component, tier: "control-plane" },
      },
      spec: { nodeName, containers: [{ name: component, image: component }] },
    } as Unstructured);
    await setPod(component, nodeName, status);
  };
  const setPod = async (component: string, nodeName: string, status: object): Promise<void> => {
    const name = `${component}-${nodeName}`;
    await client.patchStatus(
      { kind: Pod, namespace: "kube-system", name },
      { status: { conditions: null, ...status } },
    );
  };
  const observe = (options?: ObserveOptions) => side.observe(target(), context, options);
  return {
    clock,
    api,
    client,
    etcd,
    side,
    state,
    context,
    events,
    target,
    machines,
    addMachine,
    addNode,
    setPod,
    observe,
    cluster,
  };
}

/** A running, ready static pod. */
export const readyStatus = (): object => ({
  phase: "Running",
  conditions: [{ type: "Ready", status: "True" }],
});
