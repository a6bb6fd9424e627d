import { formatTime } from "@capstan/apimachinery";
import {
  type ConditionInput,
  failed,
  identifyNode,
  type NodeIdentity,
  noCapacity,
  type Outcome,
  ready,
  trouble,
  wait,
} from "@capstan/capi";
import { keyOf, providerIdOf } from "../names.ts";
import type { MachineView, Scope } from "../placement/placement.ts";
import { cureOf } from "./cures.ts";

/** The workload cluster announces new Nodes to core only. */
const NODE_CHECK_MS = 10_000;
/** Some problems, such as a full disk, end without an event. */
const PROBLEM_CHECK_MS = 30_000;
/** A download announces its end, and its progress is worth a look. */
const PROGRESS_MS = 10_000;

/** Makes the virtual machine, follows what happens to it, and reports ready once it runs. */
export async function ensureMachine(scope: Scope): Promise<Outcome> {
  const { object, backend, infraCluster, cluster } = scope;
  const key = keyOf(object);
  const providerID = providerIdOf(key);
  const nodeIndex = object.status?.nodeIndex ?? infraCluster?.status?.nodeIndexes?.[key.name];
  if (infraCluster !== undefined && nodeIndex === undefined) {
    backend.requestIndex(keyOf(cluster));
    return wait("WaitingForNodeIndex", `Waiting for KVMCluster ${infraCluster.metadata.name} to number the machine`);
  }
  const type = placementOf(scope);
  // Whoever deletes the machine has to know where it is, also when what is made of it now is never reported.
  if (object.status?.placement === undefined)
    return { ...wait("Creating", "The virtual machine is being created", 0), status: { placement: type, nodeIndex } };
  const view = await backend.placement(type).ensure(scope, { key, providerID, nodeIndex });
  const outcome = await outcomeOf(scope, view, providerID);
  return {
    ...outcome,
    status: { ...statusOf(view), ...outcome.status },
    conditions: [...conditionsFor(view), ...(outcome.conditions ?? [])],
  };
}

/** Where a machine was made it stays. */
function placementOf({ object }: Scope): "Process" | "Simulated" {
  const known = object.status?.placement;
  if (known === "Process" || known === "Simulated") return known;
  return object.spec?.placement?.type ?? "Process";
}

async function outcomeOf(scope: Scope, view: MachineView, providerID: string): Promise<Outcome> {
  const { phase, reason, message, recheckAfterMs } = view;
  if (reason === "InsufficientMemory") return noCapacity(message);
  const cure = cureOf(reason);
  switch (phase) {
    case "failed":
    case "terminated":
      return failed(reason, message, cure ?? "Delete the Machine to have it replaced");
    case "preparing":
      if (cure !== undefined) return failed(reason, message, cure);
      return reason === "ImageDownloading" || reason === "Starting"
        ? wait(reason, message, PROGRESS_MS)
        : trouble(reason, message, PROBLEM_CHECK_MS);
    case "starting":
    case "stopping":
      return wait(reason, message, recheckAfterMs);
    case "restarting":
      return trouble(reason, message, recheckAfterMs);
    case "running":
      return reason === "Running" ? await running(scope, view, providerID) : trouble(reason, message, PROBLEM_CHECK_MS);
  }
}

async function running(scope: Scope, view: MachineView, providerID: string): Promise<Outcome> {
  const { machine, object } = scope;
  const identity: NodeIdentity =
    view.knowsProviderID === true
      ? { settled: true }
      : await identifyNode(scope, object.metadata.name ?? "", providerID);
  const { failureDomain } = machine.spec;
  const recheckAfterMs = Math.min(
    view.recheckAfterMs ?? Number.POSITIVE_INFINITY,
    identity.settled ? Number.POSITIVE_INFINITY : NODE_CHECK_MS,
  );
  return {
    ...ready({
      providerID,
      addresses: view.addresses,
      ...(failureDomain === undefined ? {} : { failureDomain }),
      ...(recheckAfterMs === Number.POSITIVE_INFINITY ? {} : { recheckAfterMs }),
    }),
    ...(identity.condition === undefined ? {} : { conditions: [identity.condition] }),
  };
}

const STATES = {
  preparing: "pending",
  starting: "pending",
  restarting: "pending",
  running: "running",
  stopping: "shutting-down",
  terminated: "terminated",
  failed: "terminated",
} as const;

function statusOf({
  phase,
  pid,
  accelerator,
  acceleratorMessage,
  qemuVersion,
  restarts,
  startedAtMs,
  disks,
}: MachineView) {
  const vm = {
    pid,
    accelerator,
    acceleratorMessage,
    qemuVersion,
    restarts,
    startedAt: startedAtMs === undefined ? undefined : formatTime(startedAtMs),
  };
  return { machineState: STATES[phase], vm, disks: disks.map(({ name, bytes }) => ({ name, size: sizeText(bytes) })) };
}

function sizeText(bytes: number): string {
  return bytes % 2 ** 30 === 0 ? `${bytes / 2 ** 30}Gi` : String(bytes);
}

function conditionsFor({ phase, reason, message, agentConnected, drift }: MachineView): ConditionInput[] {
  const isRunning = phase === "running" && reason === "Running";
  const inSync = drift.length === 0;
  return [
    { type: "VMRunning", status: isRunning ? "True" : "False", reason, message: isRunning ? "" : message },
    {
      type: "GuestAgentConnected",
      status: agentConnected ? "True" : "False",
      reason: agentConnected ? "GuestAgentConnected" : "NoGuestAgent",
      message: agentConnected ? "" : "No agent listens in the guest; shutdown uses the power button",
    },
    {
      type: "InSync",
      status: inSync ? "True" : "False",
      reason: inSync ? "InSync" : "Drifted",
      message: inSync
        ? ""
        : `QEMU runs with other values of ${drift.join(", ")}; the machine gets them when it starts again`,
    },
  ];
}
