import { findCondition } from "@capstan/apimachinery";
import {
  type AggregateItem,
  aggregate,
  type ConditionInput,
  conditionsOf,
  isControlPlaneMachine,
  type Machine,
  machineAggregates,
  POOL_NAME_LABEL,
} from "@capstan/capi";
import type { ClusterScope } from "./cluster-scope.ts";

/** Computes WorkersAvailable from MachineDeployments and MachinePools; True if the cluster has no workers. */
export function workersAvailable({ machineDeployments, machinePools }: ClusterScope): ConditionInput {
  const groups = [...machinePools, ...machineDeployments];
  if (groups.length === 0) return { type: "WorkersAvailable", status: "True", reason: "NoWorkers", message: "" };
  return aggregate(
    groups.map((group) => itemOf(group, "Available")),
    {
      source: "Available",
      target: "WorkersAvailable",
      reasons: { issue: "NotAvailable", unknown: "AvailableUnknown", info: "Available" },
    },
  );
}

/** Computes the conditions that aggregate a cluster's Machines, except those of MachinePools. */
export function clusterMachineConditions({ machines }: ClusterScope): ConditionInput[] {
  const own = machines.filter((machine) => !isPoolMachine(machine));
  return [
    ...machineAggregates(own.filter(isControlPlaneMachine), "ControlPlaneMachines"),
    ...machineAggregates(
      own.filter((machine) => !isControlPlaneMachine(machine)),
      "WorkerMachines",
    ),
    remediating(own),
  ];
}

/** Pools care for their Machines themselves. */
function isPoolMachine(machine: Machine): boolean {
  return machine.metadata.labels?.[POOL_NAME_LABEL] !== undefined;
}

/** Computes RollingOut, ScalingUp and ScalingDown of a cluster, which do not indicate a fault. */
export function movementConditions(scope: ClusterScope): ConditionInput[] {
  return [
    movement(scope, "RollingOut", false),
    movement(scope, "ScalingUp", true),
    movement(scope, "ScalingDown", true),
  ];
}

function movement(scope: ClusterScope, type: string, withSets: boolean): ConditionInput {
  const { controlPlane, machineDeployments, machineSets, machinePools } = scope;
  // The contract does not ask control planes for these conditions, nor do pools report them all.
  const reporting = [...(controlPlane.state === "found" ? [controlPlane.object] : []), ...machinePools]
    .map((object) => itemOf(object, type))
    .filter(({ condition }) => condition !== undefined);
  const expected = [...machineDeployments, ...(withSets ? machineSets : [])].map((object) => itemOf(object, type));
  const items = [...reporting, ...expected];
  const reasons = { issue: type, unknown: `${type}Unknown`, info: `Not${type}` };
  return items.length === 0
    ? { type, status: "False", reason: reasons.info, message: "" }
    : aggregate(items, { source: type, target: type, negative: true, reasons });
}

function itemOf(object: { kind: string; metadata: { name?: string }; status?: unknown }, type: string): AggregateItem {
  const { kind, metadata } = object;
  return { kind, name: metadata.name ?? "", condition: findCondition(conditionsOf(object), type) };
}

function remediating(machines: readonly Machine[]): ConditionInput {
  const type = "Remediating";
  const isFalse = (machine: Machine, condition: string): boolean =>
    findCondition(conditionsOf(machine), condition)?.status === "False";
  const unhealthy = machines.filter((machine) => isFalse(machine, "HealthCheckSucceeded"));
  const waiting = unhealthy.filter((machine) => isFalse(machine, "OwnerRemediated"));
  if (waiting.length === 0)
    return { type, status: "False", reason: "NotRemediating", message: unhealthyMessage(unhealthy) };
  const items = waiting.map((machine) => ({
    ...itemOf(machine, "OwnerRemediated"),
    controlPlane: isControlPlaneMachine(machine),
  }));
  const reasons = { issue: type, unknown: type, info: type };
  const { message } = aggregate(items, { source: "OwnerRemediated", target: type, reasons });
  return { type, status: "True", reason: type, message };
}

const MAX_NAMES = 3;

function unhealthyMessage(machines: readonly Machine[]): string {
  if (machines.length === 0) return "";
  const names = machines.map(({ metadata }) => metadata.name ?? "").sort();
  const more = names.length > MAX_NAMES ? `, ... (${names.length - MAX_NAMES} more)` : "";
  const shown = `${names.slice(0, MAX_NAMES).join(", ")}${more}`;
  return names.length === 1
    ? `Machine ${shown} is not healthy (not to be remediated)`
    : `Machines ${shown} are not healthy (not to be remediated)`;
}
