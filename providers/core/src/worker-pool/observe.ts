import { type Condition, findCondition } from "@capstan/apimachinery";
import {
  conditionsOf,
  INSUFFICIENT_CAPACITY,
  type Machine,
  type MachineDeployment,
  type WorkerPool,
} from "@capstan/capi";
import { BROKEN } from "./cool-down.ts";
import type { MemberView } from "./plan.ts";

const DEFAULT_COST = 0;
const DEFAULT_AFTER_MS = 600_000;

type Member = WorkerPool["spec"]["members"][number];

/** Observed state of a member. */
export interface MemberObservation extends MemberView {
  /** Why its health is not Good, for messages. */
  reason: string;
  message: string;
  /** Machines that are not available, in deletion order: without infrastructure, overdue, still starting. */
  expendable: readonly Machine[];
  /** Machines whose UpToDate condition is True. */
  upToDate: number;
  /** The Progressing condition of its MachineDeployment. */
  progress?: Condition | undefined;
  /** When the next Machine would count as too slow; undefined if none is waiting. */
  nextDeadlineMs?: number;
}

/** Computes the state of a member from its MachineDeployment and Machines. */
export function observeMember(
  member: Member,
  deployment: MachineDeployment | undefined,
  machines: readonly Machine[],
  afterMs: number | undefined,
  nowMs: number,
  /** Time before this was not watched and does not count as a delay. */
  awakeSinceMs = Number.NEGATIVE_INFINITY,
): MemberObservation {
  const living = machines.filter((machine) => machine.metadata.deletionTimestamp === undefined);
  const waiting = living.filter((machine) => !isAvailable(machine));
  const base: MemberObservation = {
    name: member.name,
    min: member.min ?? 0,
    max: Math.max(member.max ?? Number.MAX_SAFE_INTEGER, member.min ?? 0),
    cost: member.cost === undefined ? DEFAULT_COST : Number(member.cost),
    weight: member.weight ?? 1,
    current: deployment?.spec.replicas ?? 0,
    available: living.length - waiting.length,
    health: "Good",
    reason: "",
    message: "",
    expendable: waiting,
    upToDate: countUpToDate(living),
    progress: deployment === undefined ? undefined : findCondition(conditionsOf(deployment), "Progressing"),
  };
  const starved = waiting.filter(
    (machine) => findCondition(conditionsOf(machine), "InfrastructureReady")?.reason === INSUFFICIENT_CAPACITY,
  );
  const [full] = starved;
  if (full !== undefined)
    return {
      ...base,
      health: "Full",
      // The others have what they need and are starting.
      working: living.length - starved.length,
      expendable: [...new Set([...starved, ...waiting])],
      reason: INSUFFICIENT_CAPACITY,
      message: findCondition(conditionsOf(full), "InfrastructureReady")?.message ?? "",
    };
  const deadlines = waiting.map((machine) => ({
    machine,
    at: Math.max(waitingSince(machine, nowMs), awakeSinceMs) + (afterMs ?? DEFAULT_AFTER_MS),
  }));
  const late = deadlines.filter(({ at }) => at <= nowMs).map(({ machine }) => machine);
  const [first] = late;
  if (first !== undefined)
    return {
      ...base,
      health: "Unhealthy",
      working: living.length - late.length,
      expendable: [...new Set([...late, ...waiting])],
      reason: late.every(({ status }) => status?.nodeRef !== undefined) ? BROKEN : "TooSlow",
      message: `Machine ${first.metadata.name} is not available: ${whyNot(first)}`,
    };
  const next = Math.min(...deadlines.map(({ at }) => at));
  return Number.isFinite(next) ? { ...base, nextDeadlineMs: next } : base;
}

/** Reports whether a Machine's Available condition is True. */
export function isAvailable(machine: Machine): boolean {
  return findCondition(conditionsOf(machine), "Available")?.status === "True";
}

/** Counts the Machines whose UpToDate condition is True. */
export function countUpToDate(machines: readonly Machine[]): number {
  return machines.filter((machine) => findCondition(conditionsOf(machine), "UpToDate")?.status === "True").length;
}

/** Since when a machine is missing: since it was made, or since it stopped being available. */
function waitingSince(machine: Machine, nowMs: number): number {
  const condition = findCondition(conditionsOf(machine), "Available");
  const time = Date.parse(condition?.lastTransitionTime ?? machine.metadata.creationTimestamp ?? "");
  return Number.isNaN(time) ? nowMs : time;
}

function whyNot(machine: Machine): string {
  const ready = findCondition(conditionsOf(machine), "Ready");
  return ready === undefined ? "it has not reported yet" : ready.message || ready.reason;
}
