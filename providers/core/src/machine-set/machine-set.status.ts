import { selectorOrProblem } from "@capstan/apimachinery";
import {
  type ConditionInput,
  conditionsOf,
  countMachines,
  countVersions,
  type Machine,
  type MachineSet,
  machineAggregates,
  machineNames,
  machinesInRemediation,
  machinesToRemediate,
  scalingDown,
  scalingUp,
  staleDeletions,
  withTransitionTimes,
} from "@capstan/capi";

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
  // Empty for a selector that is invalid or selects everything; the API rejects an empty string here.
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

function machineSetConditions(input: MachineSetStatusInput): ConditionInput[] {
  const { set, machines, deleting, blocked } = input;
  const desired = deleting ? 0 : set.spec.replicas;
  const counts = { desired, current: machines.length, deleting };
  return [
    scalingUp({ ...counts, blocked }),
    scalingDown({ ...counts, stale: staleDeletions(machines, input.nowMs) }),
    ...machineAggregates(machines),
    remediating(machines),
    deleting
      ? { type: "Deleting", status: "True", reason: "Deleting", message: deletingMessage(machines) }
      : { type: "Deleting", status: "False", reason: "NotDeleting", message: "" },
    input.paused,
  ];
}

function remediating(machines: readonly Machine[]): ConditionInput {
  const type = "Remediating";
  const waiting = machinesToRemediate(machines);
  const going = machinesInRemediation(machines);
  if (waiting.length === 0 && going.length === 0)
    return { type, status: "False", reason: "NotRemediating", message: "" };
  const lines = [
    ...(going.length === 0 ? [] : [`* ${machineNames(going)}: being deleted to be replaced`]),
    ...(waiting.length === 0 ? [] : [`* ${machineNames(waiting)}: waiting for remediation`]),
  ];
  return { type, status: "True", reason: "Remediating", message: lines.join("\n") };
}

function deletingMessage(machines: readonly Machine[]): string {
  return machines.length === 0 ? "Deletion completed" : `Deleting ${machineNames(machines)}`;
}
