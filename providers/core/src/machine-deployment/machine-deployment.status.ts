import { type Condition, findCondition, selectorOrProblem } from "@capstan/apimachinery";
import {
  type ConditionInput,
  compareVersions,
  conditionsOf,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  machineAggregates,
  progressing,
  scalingDown,
  scalingUp,
  withTransitionTimes,
} from "@capstan/capi";
import { rolloutLimits } from "./machine-sets.ts";
import { openRollout } from "./rollout-progress.ts";

type Status = NonNullable<MachineDeployment["status"]>;

/** Everything that the status of a MachineDeployment is computed from. */
export interface MachineDeploymentStatusInput {
  deployment: MachineDeployment;
  sets: readonly MachineSet[];
  machines: readonly Machine[];
  paused: ConditionInput;
  deleting: boolean;
  /** Why no Machines can be created now. */
  blocked: readonly string[];
  nowMs: number;
}

type Counts = Required<Pick<Status, "replicas" | "readyReplicas" | "availableReplicas" | "upToDateReplicas">>;

/** Computes the complete status from MachineSets and Machines, and when it changes without an event. */
export function machineDeploymentStatus(input: MachineDeploymentStatusInput): {
  status: Status;
  recheckMs: number | undefined;
} {
  const { deployment, sets, nowMs } = input;
  const sum = (value: (status: NonNullable<MachineSet["status"]>) => number | undefined): number =>
    sets.reduce((total, set) => total + ((set.status === undefined ? 0 : value(set.status)) ?? 0), 0);
  const counts: Counts = {
    replicas: sum((status) => status.replicas),
    readyReplicas: sum((status) => status.readyReplicas),
    availableReplicas: sum((status) => status.availableReplicas),
    upToDateReplicas: sum((status) => status.upToDateReplicas),
  };
  const versions = versionsOf(sets);
  const { generation } = deployment.metadata;
  // Empty for a selector that is invalid or selects everything; the API rejects an empty string here.
  const selector = selectorOrProblem(deployment.spec.selector, "spec.selector").toString();
  const computed = deploymentConditions(input, counts);
  const withTimes = (inputs: readonly ConditionInput[]): Condition[] =>
    withTransitionTimes(inputs, conditionsOf(deployment), nowMs, generation);
  const paused = input.paused.status === "True";
  const work = paused ? undefined : openRollout({ ...input, conditions: withTimes(computed) });
  const progress = progressing(deployment, work, nowMs);
  const status: Status = {
    conditions: withTimes([...computed, ...(input.deleting ? [] : [progress.condition])]) as NonNullable<
      Status["conditions"]
    >,
    ...(selector === "" ? {} : { selector }),
    ...counts,
    ...(versions.length === 0 ? {} : { versions }),
    phase: phaseOf(deployment, counts),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return { status, recheckMs: progress.dueMs };
}

function versionsOf(sets: readonly MachineSet[]): NonNullable<Status["versions"]> {
  const counts = new Map<string, number>();
  for (const set of sets)
    for (const { version, replicas } of set.status?.versions ?? [])
      counts.set(version, (counts.get(version) ?? 0) + (replicas ?? 0));
  return [...counts].sort(([a], [b]) => compareVersions(a, b)).map(([version, replicas]) => ({ version, replicas }));
}

function phaseOf({ spec }: MachineDeployment, counts: Counts): NonNullable<Status["phase"]> {
  const desired = spec.replicas;
  if (desired === undefined) return "Unknown";
  if (counts.replicas > desired) return "ScalingDown";
  if (counts.replicas < desired || counts.readyReplicas < desired || counts.upToDateReplicas < desired)
    return "ScalingUp";
  return "Running";
}

function deploymentConditions(input: MachineDeploymentStatusInput, counts: Counts): ConditionInput[] {
  const { deployment, machines, deleting, sets } = input;
  const desired = deleting ? 0 : deployment.spec.replicas;
  const scaling = { desired, current: counts.replicas, deleting };
  return [
    available(deployment, counts, deleting),
    rollingOut(machines, deleting),
    scalingUp({ ...scaling, blocked: input.blocked }),
    scalingDown(scaling),
    ...machineAggregates(machines),
    remediating(sets),
    deleting
      ? { type: "Deleting", status: "True", reason: "Deleting", message: deletingMessage(sets) }
      : { type: "Deleting", status: "False", reason: "NotDeleting", message: "" },
    input.paused,
  ];
}

function available(deployment: MachineDeployment, counts: Counts, deleting: boolean): ConditionInput {
  const type = "Available";
  const desired = deployment.spec.replicas;
  if (desired === undefined)
    return { type, status: "Unknown", reason: "WaitingForReplicasSet", message: "Waiting for spec.replicas set" };
  const { maxUnavailable } = rolloutLimits(deployment);
  const needed = Math.max(0, desired - maxUnavailable);
  if (counts.availableReplicas >= needed) return { type, status: "True", reason: "Available", message: "" };
  const message = deleting
    ? "Deletion in progress"
    : `${counts.availableReplicas} available replicas, at least ${needed} required (spec.replicas is ${desired}, maxUnavailable is ${maxUnavailable})`;
  return { type, status: "False", reason: "NotAvailable", message };
}

/** The Machines report what differs; this summarizes it. */
function rollingOut(machines: readonly Machine[], deleting: boolean): ConditionInput {
  const type = "RollingOut";
  const reasons = new Set<string>();
  let count = 0;
  for (const machine of deleting ? [] : machines) {
    const upToDate = findCondition(conditionsOf(machine), "UpToDate");
    if (upToDate?.status !== "False" || upToDate.reason !== "NotUpToDate") continue;
    count++;
    for (const line of upToDate.message.split("\n")) if (line !== "") reasons.add(line);
  }
  if (count === 0) return { type, status: "False", reason: "NotRollingOut", message: "" };
  const head = `Rolling out ${count} not up-to-date replica${count === 1 ? "" : "s"}`;
  return { type, status: "True", reason: "RollingOut", message: [head, ...[...reasons].sort()].join("\n") };
}

function remediating(sets: readonly MachineSet[]): ConditionInput {
  const type = "Remediating";
  const messages = sets
    .map((set) => findCondition(conditionsOf(set), "Remediating"))
    .filter((condition) => condition?.status === "True")
    .map((condition) => condition?.message ?? "");
  return messages.length === 0
    ? { type, status: "False", reason: "NotRemediating", message: "" }
    : { type, status: "True", reason: "Remediating", message: messages.join("\n") };
}

function deletingMessage(sets: readonly MachineSet[]): string {
  const names = sets.map((set) => set.metadata.name ?? "").sort();
  return names.length === 0 ? "Deletion completed" : `Deleting MachineSets ${names.join(", ")}`;
}
