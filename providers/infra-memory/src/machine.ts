import { findCondition, formatTime } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  conditionsOf,
  gone,
  isControlPlaneMachine,
  type MachineAddress,
  type MachineRemoval,
  type MachineScope,
  noCapacity,
  type Outcome,
  wait,
} from "@capstan/capi";
import { machineProgram, planeMember, type SimulatedMachine } from "@capstan/workloads";
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
    // A machine that ran before this process started continues immediately: it has already booted.
    const resumed = object.spec?.providerID !== undefined;
    const simulated = simulatedOf(scope);
    const member = planeMember(simulated, backend.options.planes);
    // A control plane machine is what others wait for.
    if (resumed && member === undefined && scope.workload.state !== "connected") return reconnecting(scope);
    const program = await machineProgram(simulated, member, resumed);
    const limit = resumed ? undefined : infraCluster?.spec?.capacity;
    const clusterKey = `${cluster.metadata.namespace}/${cluster.metadata.name}`;
    if (!backend.create({ key, cluster: clusterKey, limit, bootMs: resumed ? 0 : bootMs, program, member }))
      return noCapacity(
        `MemoryCluster ${infraCluster?.metadata.name} has room for ${limit} machines and all are taken`,
      );
  }
  backend.setFault(key, fault);
  const state = backend.find(key);
  if (fault === "NeverBoots" && object.spec?.providerID === undefined)
    return wait("NeverBoots", "The machine will not boot: fault NeverBoots is set");
  if (state === undefined || !state.running)
    return wait("Booting", `The machine is booting until ${formatTime(state?.bootsAtMs ?? 0)}`);
  if (state.problem !== undefined && object.status?.initialization?.provisioned === true)
    return wait("JoinFailed", `The machine is running but failed to join and will retry: ${state.problem}`);
  return running(scope);
}

/** After a restart the status of a machine stays as it was until its cluster reports another one. */
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
    failureDomain,
  };
}

/** Destroys the machine; this takes effect immediately. */
export async function removeMachine({
  object,
  machine,
  backend,
}: MachineRemoval<MemoryMachine, MemoryBackend>): Promise<Outcome> {
  const key = keyOf(object);
  const isKnown = backend.find(key) !== undefined;
  await backend.destroy(key);
  const name = object.metadata.labels?.[CLUSTER_NAME_LABEL];
  // An earlier process has started it.
  if (!isKnown && name !== undefined && machine !== undefined && isControlPlaneMachine(machine))
    await backend.options.planes?.destroyed({ namespace: key.namespace, name }, key.name);
  return gone();
}

function simulatedOf(scope: Scope): SimulatedMachine {
  const { object, backend } = scope;
  return {
    scope,
    providerID: providerIDOf(object),
    addresses: addressesOf(object, backend),
    capacity: object.spec?.capacity ?? DEFAULT_CAPACITY,
    join: backend.options,
  };
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
