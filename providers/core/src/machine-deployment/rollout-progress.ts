import { type Condition, findCondition } from "@capstan/apimachinery";
import {
  conditionsOf,
  headline,
  INSUFFICIENT_CAPACITY,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  type OpenWork,
} from "@capstan/capi";

/** Everything that the progress of a rollout is computed from. */
export interface RolloutInput {
  deployment: MachineDeployment;
  sets: readonly MachineSet[];
  machines: readonly Machine[];
  deleting: boolean;
  /** Why no Machines can be created now. */
  blocked: readonly string[];
  /** The deployment's conditions of this reconcile, with transition times. */
  conditions: readonly Condition[];
}

/**
 * Returns what a rollout still has to do: create, delete or replace Machines, or wait for Nodes to join. Undefined if it is complete,
 * paused or deleting; a Node that breaks after joining does not count.
 */
export function openRollout(input: RolloutInput): OpenWork | undefined {
  const { deployment, machines } = input;
  const desired = deployment.spec.replicas;
  if (desired === undefined || input.deleting || deployment.spec.paused === true) return undefined;
  const finished = machines.filter((machine) => isDone(machine)).length;
  if (finished === desired && machines.length === desired) return undefined;
  return {
    doing: `${finished} of ${desired} Machines are up to date and joined`,
    progressAtMs: progressAt(input),
    ...blockerOf(input),
  };
}

const isDone = (machine: Machine): boolean =>
  machine.metadata.deletionTimestamp === undefined && machine.status?.nodeRef !== undefined && isUpToDate(machine);

function isUpToDate(machine: Machine): boolean {
  return findCondition(conditionsOf(machine), "UpToDate")?.status === "True";
}

/**
 * When the rollout last made progress, from times that objects keep, so that a restart loses nothing: it started, a new Machine became
 * available, an old one began to go. That Machines are created does not count: failing ones may be replaced for ever.
 */
function progressAt({ deployment, sets, machines, conditions }: RolloutInput): number {
  const began = conditions
    .filter(({ type, status }) => status === "True" && ["RollingOut", "ScalingUp", "ScalingDown"].includes(type))
    .map(({ lastTransitionTime }) => lastTransitionTime);
  const steps = machines.flatMap((machine) => {
    const since = (type: string): string | undefined => findCondition(conditionsOf(machine), type)?.lastTransitionTime;
    if (!isUpToDate(machine)) return [since("UpToDate"), machine.metadata.deletionTimestamp];
    return findCondition(conditionsOf(machine), "Available")?.status === "True" ? [since("Available")] : [];
  });
  const created = [deployment, ...sets].map(({ metadata }) => metadata.creationTimestamp);
  const times = [...began, ...steps, ...created].map((time) => Date.parse(time ?? ""));
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}

type Blocker = Pick<OpenWork, "blocker" | "nextStep">;

/** What blocks the rollout: no Machine can be created, or the oldest Machine that is not in its desired state. */
function blockerOf({ deployment, machines, blocked }: RolloutInput): Blocker {
  const nextStep = `see: capstan why ${deployment.spec.clusterName} -n ${deployment.metadata.namespace}`;
  const [reason] = blocked;
  if (reason !== undefined) return { blocker: headline(reason), nextStep };
  const byAge = [...machines].sort((a, b) => (ageKey(a) < ageKey(b) ? -1 : 1));
  const joining = byAge.find(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.nodeRef === undefined,
  );
  if (joining !== undefined) return whyNotJoined(joining, nextStep);
  const leaving = byAge.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (leaving !== undefined)
    return { blocker: `${name(leaving)} is being deleted${told(leaving, "Deleting")}`, nextStep };
  const updating = byAge.find((machine) => findCondition(conditionsOf(machine), "UpToDate")?.reason === "Updating");
  if (updating !== undefined)
    return {
      blocker: `${name(updating)}${told(updating, "UpToDate")}`,
      nextStep: "use an image or an installer that brings that version, then delete the Machine",
    };
  const unready = byAge.find((machine) => findCondition(conditionsOf(machine), "Ready")?.status !== "True");
  return unready === undefined
    ? { blocker: "Machines are not replaced", nextStep }
    : { blocker: `${name(unready)} is not ready${told(unready, "Ready")}`, nextStep };
}

function whyNotJoined(machine: Machine, nextStep: string): Blocker {
  const conditions = conditionsOf(machine);
  const fault = ["BootstrapConfigReady", "InfrastructureReady", "NodeReady"]
    .map((type) => findCondition(conditions, type))
    .find((condition) => condition !== undefined && condition.status !== "True");
  const why = fault === undefined ? "" : `: ${headline(fault.message) || fault.reason}`;
  return {
    blocker: `${name(machine)} has not joined${why}`,
    nextStep:
      fault?.reason === INSUFFICIENT_CAPACITY
        ? "add a host or free one; or let the rollout remove a Machine first (spec.rollout.strategy.rollingUpdate.maxUnavailable: 1 of the MachineDeployment)"
        : nextStep,
  };
}

const name = ({ metadata }: Machine): string => `Machine ${metadata.name}`;

const ageKey = ({ metadata }: Machine): string => `${metadata.creationTimestamp} ${metadata.name}`;

function told(machine: Machine, type: string): string {
  const message = headline(findCondition(conditionsOf(machine), type)?.message ?? "").replace(/^\* /, "");
  return message === "" ? "" : `: ${message}`;
}
