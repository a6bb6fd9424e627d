import { selectorOrProblem } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf, type Machine, type MachineSet, withTransitionTimes } from "@capstan/capi";
import semver from "semver";
import { machineAggregates } from "../shared/machine-aggregates.ts";
import { scalingDown, scalingUp } from "../shared/scaling-conditions.ts";
import { machinesToRemediate } from "./remediate.ts";

type Status = NonNullable<MachineSet["status"]>;

/** Everything that the status of a MachineSet is computed from. */
export interface MachineSetStatusInput {
  set: MachineSet;
  machines: readonly Machine[];
  paused: ConditionInput;
  deleting: boolean;
  /** Why no Machines can be created now. */
  blocked: readonly string[];
  nowMs: number;
}

/** Computes the complete status of a MachineSet from its Machines. */
export function machineSetStatus(input: MachineSetStatusInput): Status {
  const { set, machines, nowMs } = input;
  const counts = countMachines(machines);
  const versions = countVersions(machines);
  const { generation } = set.metadata;
  // Empty for a selector that is bad or selects everything; the API takes no empty text here.
  const selector = selectorOrProblem(set.spec.selector, "spec.selector").toString();
  return {
    conditions: withTransitionTimes(machineSetConditions(input), conditionsOf(set), nowMs, generation) as NonNullable<
      Status["conditions"]
    >,
    ...(selector === "" ? {} : { selector }),
    ...counts,
    ...(versions.length === 0 ? {} : { versions }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/** Counts Machines: all, ready, available and up to date. */
export function countMachines(
  machines: readonly Machine[],
): Required<Pick<Status, "replicas" | "readyReplicas" | "availableReplicas" | "upToDateReplicas">> {
  let readyReplicas = 0;
  let availableReplicas = 0;
  let upToDateReplicas = 0;
  for (const machine of machines) {
    for (const condition of machine.status?.conditions ?? []) {
      if (condition.status !== "True") continue;
      if (condition.type === "Ready") readyReplicas++;
      else if (condition.type === "Available") availableReplicas++;
      else if (condition.type === "UpToDate") upToDateReplicas++;
    }
  }
  return { replicas: machines.length, readyReplicas, availableReplicas, upToDateReplicas };
}

/** Counts Machines by version, oldest version first. */
export function countVersions(machines: readonly Machine[]): NonNullable<Status["versions"]> {
  const counts = new Map<string, number>();
  for (const machine of machines) {
    const version = machine.status?.nodeInfo?.["kubeletVersion"] ?? machine.spec.version;
    if (version !== undefined && version !== "") counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => compareVersions(a, b)).map(([version, replicas]) => ({ version, replicas }));
}

/** Compares versions; invalid ones sort first. */
export function compareVersions(a: string, b: string): number {
  const left = semver.parse(a);
  const right = semver.parse(b);
  if (left === null || right === null) return left === right ? (a < b ? -1 : 1) : left === null ? -1 : 1;
  return semver.compare(left, right);
}

function machineSetConditions(input: MachineSetStatusInput): ConditionInput[] {
  const { set, machines, deleting, blocked } = input;
  const desired = deleting ? 0 : set.spec.replicas;
  const counts = { desired, current: machines.length, deleting };
  return [
    scalingUp({ ...counts, blocked }),
    scalingDown({ ...counts, stale: staleText(machines, input.nowMs) }),
    ...machineAggregates(machines),
    remediating(machines),
    deleting
      ? { type: "Deleting", status: "True", reason: "Deleting", message: deletingMessage(machines) }
      : { type: "Deleting", status: "False", reason: "NotDeleting", message: "" },
    input.paused,
  ];
}

function hasCondition(machine: Machine, type: string): boolean {
  return machine.status?.conditions?.some((condition) => condition.type === type) === true;
}

function remediating(machines: readonly Machine[]): ConditionInput {
  const type = "Remediating";
  const waiting = machinesToRemediate(machines);
  const going = machines.filter(
    (machine) => machine.metadata.deletionTimestamp !== undefined && hasCondition(machine, "OwnerRemediated"),
  );
  if (waiting.length === 0 && going.length === 0)
    return { type, status: "False", reason: "NotRemediating", message: "" };
  const lines = [
    ...(going.length === 0 ? [] : [`* ${names(going)}: being deleted to be replaced`]),
    ...(waiting.length === 0 ? [] : [`* ${names(waiting)}: waiting for remediation`]),
  ];
  return { type, status: "True", reason: "Remediating", message: lines.join("\n") };
}

const MAX_NAMES = 3;

function names(machines: readonly Machine[]): string {
  const sorted = machines.map((machine) => machine.metadata.name ?? "").sort();
  const more = sorted.length > MAX_NAMES ? `, ... (${sorted.length - MAX_NAMES} more)` : "";
  return `${sorted.length === 1 ? "Machine" : "Machines"} ${sorted.slice(0, MAX_NAMES).join(", ")}${more}`;
}

function deletingMessage(machines: readonly Machine[]): string {
  return machines.length === 0 ? "Deletion completed" : `Deleting ${names(machines)}`;
}

const STALE_MS = 15 * 60_000;

/** Machines whose deletion takes long are worth naming. */
function staleText(machines: readonly Machine[], nowMs: number): string | undefined {
  const stale = machines.filter(({ metadata }) => {
    const since = metadata.deletionTimestamp;
    return since !== undefined && nowMs - Date.parse(since) > STALE_MS;
  });
  return stale.length === 0 ? undefined : `${names(stale)} in deletion since more than 15m`;
}
