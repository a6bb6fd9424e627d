import { findCondition, formatTime } from "@capstan/apimachinery";
import {
  conditionsOf,
  gone,
  type MachineAddress,
  type MachineRemoval,
  type MachineScope,
  noCapacity,
  type Outcome,
  wait,
} from "@capstan/capi";
import { type GuestProgram, type JoinPlan, joinCluster, joinPlan, kubeletOver, nodeOf } from "@capstan/workloads";
import type { MemoryBackend } from "./backend.ts";
import { behaviourOf } from "./faults.ts";
import type { MemoryCluster } from "./kinds/memory-cluster.ts";
import type { MemoryMachine } from "./kinds/memory-machine.ts";

type Scope = MachineScope<MemoryMachine, MemoryBackend, MemoryCluster>;

const DEFAULT_CAPACITY = { cpu: "4", memory: "8Gi", pods: "110" };
/** After a restart a machine waits for its cluster, which nothing announces to it. */
const RECONNECT_MS = 1_000;

/** Creates and boots the machine, and reports ready once it runs. The SDK calls it repeatedly, so it must be idempotent. */
export async function ensureMachine(scope: Scope): Promise<Outcome> {
  const { object, backend, cluster, infraCluster } = scope;
  const key = keyOf(object);
  const { fault, bootMs } = behaviourOf(object, backend.share(`${key.namespace}/${key.name}`));
  if (backend.find(key) === undefined) {
    if (fault === "NoCapacity") return noCapacity("There is no room for another machine: fault NoCapacity is set");
    // One that ran before this process did goes on at once: its boot is history.
    const resumed = object.spec?.providerID !== undefined;
    if (resumed && scope.workload.state !== "connected") return reconnecting(scope);
    const program = resumed ? resumedProgram(scope) : await bootProgram(scope);
    const limit = resumed ? undefined : infraCluster?.spec?.capacity;
    const clusterKey = `${cluster.metadata.namespace}/${cluster.metadata.name}`;
    if (!backend.create({ key, cluster: clusterKey, limit, bootMs: resumed ? 0 : bootMs, program }))
      return noCapacity(
        `MemoryCluster ${infraCluster?.metadata.name} has room for ${limit} machines and all are taken`,
      );
  }
  backend.setFault(key, fault);
  const state = backend.find(key);
  if (fault === "NeverBoots" && object.spec?.providerID === undefined)
    return wait("NeverBoots", "The machine will not boot: fault NeverBoots is set");
  if (state === undefined || !state.running)
    return wait("Booting", `The machine boots until ${formatTime(state?.bootsAtMs ?? 0)}`);
  if (state.problem !== undefined && object.status?.initialization?.provisioned === true)
    return wait("JoinFailed", `The machine runs but does not join and tries again: ${state.problem}`);
  return running(scope);
}

/** A restart is no news of a machine: it stays as it was until its cluster says otherwise. */
function reconnecting(scope: Scope): Outcome {
  const wasReady = findCondition(conditionsOf(scope.object), "Ready")?.status === "True";
  return wasReady && scope.workload.state === "connecting"
    ? { ...running(scope), recheckAfterMs: RECONNECT_MS }
    : wait("WaitingForWorkloadCluster", "Waiting for a connection to its cluster after a restart", RECONNECT_MS);
}

function running({ object, backend, machine }: Scope): Extract<Outcome, { type: "ready" }> {
  const { failureDomain } = machine.spec;
  return {
    type: "ready",
    providerID: providerIDOf(object),
    addresses: addressesOf(object, backend),
    ...(failureDomain === undefined ? {} : { failureDomain }),
  };
}

/** Destroys the machine; this takes effect immediately. */
export async function removeMachine({
  object,
  backend,
}: MachineRemoval<MemoryMachine, MemoryBackend>): Promise<Outcome> {
  backend.destroy(keyOf(object));
  return gone();
}

/** The first boot: joins with what the bootstrap data says. */
async function bootProgram(scope: Scope): Promise<GuestProgram> {
  const data = await scope.bootstrap.data();
  const { backend, object } = scope;
  let plan: JoinPlan | undefined;
  const read = async (): Promise<JoinPlan> => {
    plan ??= await joinPlan(data, object.metadata.name ?? "", scope.clock);
    return plan;
  };
  return {
    join: async (signal) => joinCluster(await read(), backend.options, signal),
    register: async (kubelet) => kubelet.register(nodeFor(scope, await read())),
    post: async (kubelet, alive) => kubelet.post((await read()).nodeName, alive),
  };
}

/** A later start: the kubelet has its certificate already, only this process has forgotten it. */
function resumedProgram(scope: Scope): GuestProgram {
  const { workload, object, machine } = scope;
  const known = workload.state === "connected" ? workload.nodes.byProviderID(providerIDOf(object)) : undefined;
  const nodeName = known?.metadata.name ?? machine.status?.nodeRef?.name ?? object.metadata.name ?? "";
  return {
    join: async () => {
      if (workload.state !== "connected") throw new Error("the workload cluster is not connected");
      return kubeletOver(workload.client);
    },
    register: (kubelet) => kubelet.resume(nodeFor(scope, { nodeName, taints: [] })),
    post: (kubelet, alive) => kubelet.post(nodeName, alive),
  };
}

function nodeFor(scope: Scope, plan: Pick<JoinPlan, "nodeName" | "taints">): ReturnType<typeof nodeOf> {
  const { object, machine, backend, clock } = scope;
  return nodeOf({
    name: plan.nodeName,
    providerID: providerIDOf(object),
    version: machine.spec.version ?? "",
    addresses: addressesOf(object, backend),
    capacity: object.spec?.capacity ?? DEFAULT_CAPACITY,
    failureDomain: machine.spec.failureDomain,
    taints: plan.taints,
    since: formatTime(clock.now()),
  });
}

function providerIDOf(object: MemoryMachine): string {
  return object.spec?.providerID ?? `memory://${object.metadata.namespace}/${object.metadata.name}`;
}

function addressesOf(object: MemoryMachine, backend: MemoryBackend): MachineAddress[] {
  const { namespace, name = "" } = object.metadata;
  const n = Math.floor(backend.share(`address/${namespace}/${name}`) * 0xff_ffff);
  return [
    { type: "InternalIP", address: `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` },
    { type: "Hostname", address: name },
  ];
}

function keyOf(object: MemoryMachine): { namespace: string; name: string } {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}
