import { type Condition, findCondition, formatTime } from "@capstan/apimachinery";
import {
  addressesOf,
  type ConditionInput,
  conditionsOf,
  field,
  type Machine,
  withTransitionTimes,
} from "@capstan/capi";
import { untilRollout } from "../machine-deployment/template-diff.ts";
import { type MachineConditionsInput, machineConditions } from "./machine.conditions.ts";
import type { MachineScope } from "./machine-scope.ts";

type Status = NonNullable<Machine["status"]>;
type Phase = NonNullable<Status["phase"]>;

/** Initialization flags of the contract; once true, they stay true. */
export interface Initialization {
  infrastructureProvisioned: boolean;
  bootstrapDataSecretCreated: boolean;
}

/** Everything that the status of a Machine is computed from. */
export interface MachineStatusInput extends MachineConditionsInput {
  /** The Machine with the changes to its spec that this reconcile wrote. */
  machine: Machine;
  initialization: Initialization;
  /** When the steps of a deletion started. */
  deletion: Status["deletion"];
}

/** Computes the complete status of a Machine, and when it changes by time alone. */
export function machineStatus(input: MachineStatusInput): { status: Status; recheckMs: number | undefined } {
  const { scope, machine, nowMs, initialization } = input;
  const generation = machine.metadata.generation;
  const computed = machineConditions(input);
  const existing = conditionsOf(machine);
  const availability = availableCondition(machine, readySince(computed, existing, nowMs), nowMs);
  const all = withTransitionTimes([...computed, availability.condition], existing, nowMs, generation);
  const phase = phaseOf(input);
  const flags = {
    ...(initialization.infrastructureProvisioned ? { infrastructureProvisioned: true } : {}),
    ...(initialization.bootstrapDataSecretCreated ? { bootstrapDataSecretCreated: true } : {}),
  };
  const before = machine.status;
  const lastUpdated =
    before?.phase === phase && before.lastUpdated !== undefined ? before.lastUpdated : formatTime(nowMs);
  const status: Status = {
    conditions: all as NonNullable<Status["conditions"]>,
    ...(Object.keys(flags).length > 0 ? { initialization: flags } : {}),
    ...nodeFields(scope),
    ...infrastructureFields(scope),
    ...certificatesExpiry(scope),
    ...(input.deletion === undefined ? {} : { deletion: input.deletion }),
    phase,
    lastUpdated,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return { status, recheckMs: soonestOf(availability.recheckMs, rolloutRecheck(scope, nowMs)) };
}

function soonestOf(...values: (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** When `rollout.after` passes, UpToDate changes without any event. */
function rolloutRecheck(scope: MachineScope, nowMs: number): number | undefined {
  if (scope.machineDeployment === undefined) return undefined;
  const until = untilRollout(scope.machineDeployment, nowMs);
  return until === undefined || until === 0 ? undefined : until;
}

/** When Ready became True, if it is; as it will be written. */
function readySince(
  computed: readonly ConditionInput[],
  existing: readonly Condition[],
  nowMs: number,
): number | undefined {
  if (computed.find(({ type }) => type === "Ready")?.status !== "True") return undefined;
  const old = findCondition(existing, "Ready");
  return old?.status === "True" ? Date.parse(old.lastTransitionTime) : nowMs;
}

function availableCondition(
  machine: Machine,
  readySinceMs: number | undefined,
  nowMs: number,
): { condition: ConditionInput; recheckMs: number | undefined } {
  const type = "Available";
  if (readySinceMs === undefined)
    return { condition: { type, status: "False", reason: "NotReady", message: "" }, recheckMs: undefined };
  const missing = (machine.spec.minReadySeconds ?? 0) * 1000 - (nowMs - readySinceMs);
  if (missing > 0)
    return {
      condition: { type, status: "False", reason: "WaitingForMinReadySeconds", message: "" },
      recheckMs: missing,
    };
  return { condition: { type, status: "True", reason: "Available", message: "" }, recheckMs: undefined };
}

function phaseOf({ machine, scope, initialization }: MachineStatusInput): Phase {
  if (machine.metadata.deletionTimestamp !== undefined) return "Deleting";
  const bound = machine.status?.nodeRef !== undefined || scope.node !== undefined;
  if (bound && initialization.infrastructureProvisioned) return "Running";
  if (machine.spec.providerID !== undefined) return "Provisioned";
  if (initialization.bootstrapDataSecretCreated && !initialization.infrastructureProvisioned) return "Provisioning";
  return "Pending";
}

/** The Node once bound stays named even when it cannot be read. */
function nodeFields({ node, machine }: MachineScope): Pick<Status, "nodeRef" | "nodeInfo"> {
  const name = node?.metadata.name ?? machine.status?.nodeRef?.name;
  if (name === undefined) return {};
  const info = node?.status?.nodeInfo;
  const nodeInfo =
    info === undefined
      ? machine.status?.nodeInfo
      : (Object.fromEntries(Object.entries(info).filter(([, value]) => typeof value === "string")) as typeof info);
  return {
    nodeRef: { name },
    ...(nodeInfo === undefined ? {} : { nodeInfo: nodeInfo as NonNullable<Status["nodeInfo"]> }),
  };
}

function infrastructureFields({ infrastructure, machine }: MachineScope): Pick<Status, "addresses" | "failureDomain"> {
  const before = {
    ...(machine.status?.addresses === undefined ? {} : { addresses: machine.status.addresses }),
    ...(machine.status?.failureDomain === undefined ? {} : { failureDomain: machine.status.failureDomain }),
  };
  if (infrastructure.state !== "found") return before;
  const { object } = infrastructure;
  const addresses = addressesOf(object);
  const domain = field(object, "status", "failureDomain") ?? field(object, "spec", "failureDomain");
  return {
    ...(addresses.length > 0 ? { addresses } : {}),
    ...(typeof domain === "string" && domain !== "" ? { failureDomain: domain } : {}),
  };
}

const CERTIFICATES_EXPIRY = "machine.cluster.x-k8s.io/certificates-expiry";

/** Control plane Machines report when their certificates expire, as the bootstrap provider knows it. */
function certificatesExpiry({ machine, bootstrap }: MachineScope): Pick<Status, "certificatesExpiryDate"> {
  const text =
    machine.metadata.annotations?.[CERTIFICATES_EXPIRY] ??
    (bootstrap.state === "found" ? bootstrap.object.metadata.annotations?.[CERTIFICATES_EXPIRY] : undefined);
  if (text === undefined) return {};
  const at = Date.parse(text);
  return Number.isNaN(at) ? {} : { certificatesExpiryDate: formatTime(at) };
}
