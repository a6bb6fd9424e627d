import { findCondition } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf, type Machine } from "@capstan/capi";
import { COMPONENT_CONDITIONS } from "../plan/preflight.ts";
import type { ObservedMember, WorkloadObservation } from "../workload/workload-side.ts";

/** Trouble of a component is reported while the control plane works only once it has lasted for this time. */
const SURFACES_AFTER_MS = 10_000;
/** How long etcd may take to answer after the control plane was initialized. */
const MEMBERS_AFTER_MS = 120_000;
const TYPE = "Available";

/** What the Available condition of an initialized control plane is computed from. */
export interface AvailableInput {
  readonly machines: readonly Machine[];
  readonly members: WorkloadObservation["members"];
  readonly membersMatch: boolean;
  readonly etcdManaged: boolean;
  readonly certificatesAvailable: boolean;
  readonly deleting: boolean;
  /** When the control plane was initialized. */
  readonly initializedAtMs: number;
  readonly nowMs: number;
}

/** Computes whether an initialized control plane serves, and when the message changes without an event. */
export function available(input: AvailableInput): { condition: ConditionInput; recheckAtMs: number } {
  const { members, etcdManaged, nowMs, initializedAtMs } = input;
  const steady = (condition: ConditionInput) => ({ condition, recheckAtMs: Infinity });
  if (etcdManaged && "unknown" in members) {
    const dueMs = initializedAtMs + MEMBERS_AFTER_MS;
    if (nowMs < dueMs) return { condition: not("Waiting for etcd to report the list of members"), recheckAtMs: dueMs };
    const message = `Failed to get etcd members: ${members.unknown}`;
    return steady({ type: TYPE, status: "Unknown", reason: "InspectionFailed", message });
  }
  if (etcdManaged && !input.membersMatch)
    return steady(not("The list of etcd members does not match the list of Machines and Nodes"));
  const planes = tally(
    input.machines.filter(hasProvider).map((machine) => stateOf(machine, componentsOf(etcdManaged), nowMs)),
  );
  const etcd = etcdManaged && !("unknown" in members) ? etcdTally(members, input) : undefined;
  const serves =
    !input.deleting &&
    (etcd === undefined || etcd.healthy >= etcd.quorum) &&
    planes.healthy >= 1 &&
    input.certificatesAvailable;
  const condition: ConditionInput = serves
    ? { type: TYPE, status: "True", reason: "Available", message: degradation(planes, etcd, input).join("\n") }
    : not(obstacles(planes, etcd, input).join("\n"));
  return { condition, recheckAtMs: Math.min(planes.changesAtMs, etcd?.changesAtMs ?? Infinity) };
}

function not(message: string): ConditionInput {
  return { type: TYPE, status: "False", reason: "NotAvailable", message };
}

function hasProvider({ spec }: Machine): boolean {
  return (spec.providerID ?? "") !== "";
}

/** A set of components is healthy as a whole: they use those of the same Machine only. */
function componentsOf(etcdManaged: boolean): string[] {
  const { apiServer, controllerManager, scheduler, etcdMember, etcdPod } = COMPONENT_CONDITIONS;
  return [apiServer, controllerManager, scheduler, ...(etcdManaged ? [etcdMember, etcdPod] : [])];
}

/** `since`: of trouble that has yet to be reported. */
type State = "healthy" | "broken" | { readonly sinceMs: number };

function stateOf(machine: Machine, types: readonly string[], nowMs: number): State {
  const found = types.map((type) => findCondition(conditionsOf(machine), type));
  if (found.every((condition) => condition?.status === "True")) return "healthy";
  const times = found.flatMap((each) =>
    each === undefined || each.status === "True" ? [] : [Date.parse(each.lastTransitionTime)],
  );
  if (times.length === 0) return { sinceMs: nowMs };
  const sinceMs = Math.min(...times);
  return nowMs - sinceMs > SURFACES_AFTER_MS ? "broken" : { sinceMs };
}

interface Tally {
  healthy: number;
  broken: number;
  /** In trouble for too short a time to be reported. */
  fresh: number;
  changesAtMs: number;
}

function tally(states: readonly State[]): Tally {
  const counts: Tally = { healthy: 0, broken: 0, fresh: 0, changesAtMs: Infinity };
  for (const state of states) {
    if (state === "healthy") counts.healthy++;
    else if (state === "broken") counts.broken++;
    else {
      counts.fresh++;
      counts.changesAtMs = Math.min(counts.changesAtMs, state.sinceMs + SURFACES_AFTER_MS + 1_000);
    }
  }
  return counts;
}

interface EtcdTally extends Tally {
  members: number;
  learners: number;
  quorum: number;
}

function etcdTally(members: readonly ObservedMember[], { machines, nowMs }: AvailableInput): EtcdTally {
  const provisioning = machines.filter(({ status }) => status?.nodeRef === undefined);
  // One Machine is created at a time: a member that belongs to no Node is the one of the Machine that has none.
  let candidate = provisioning.length === 1 ? provisioning[0] : undefined;
  const states = members.map((member): State => {
    // It has not started yet, which takes a moment.
    if (member.name === "") return "healthy";
    let machine = machines.find(
      ({ status }) => status?.nodeRef !== undefined && status.nodeRef.name === member.nodeName,
    );
    if (machine === undefined) [machine, candidate] = [candidate, undefined];
    return machine === undefined ? "broken" : stateOf(machine, [COMPONENT_CONDITIONS.etcdMember], nowMs);
  });
  const learners = members.filter(({ learner, name }) => learner || name === "").length;
  const quorum = Math.floor((members.length - learners) / 2) + 1;
  return { ...tally(states), members: members.length, learners, quorum };
}

function degradation(planes: Tally, etcd: EtcdTally | undefined, { machines }: AvailableInput): string[] {
  const lines: string[] = [];
  if (etcd !== undefined && etcd.broken > 0) lines.push(etcdLine(etcd.healthy + etcd.fresh, etcd));
  if (planes.broken > 0) {
    const fine = planes.healthy + planes.fresh;
    lines.push(
      `* ${fine} of ${machines.length} Machines ${fine === 1 ? "has" : "have"} healthy control plane components, at least 1 required`,
    );
  }
  return lines;
}

function obstacles(planes: Tally, etcd: EtcdTally | undefined, input: AvailableInput): string[] {
  return [
    ...(input.deleting ? ["* Control plane metadata.deletionTimestamp is set"] : []),
    ...(input.certificatesAvailable ? [] : ["* Control plane certificates are not available"]),
    ...(etcd !== undefined && etcd.healthy < etcd.quorum ? [etcdLine(etcd.healthy, etcd)] : []),
    ...(planes.healthy < 1
      ? ["* There are no Machines with healthy control plane components, at least 1 required"]
      : []),
  ];
}

function etcdLine(healthy: number, { members, learners, quorum }: EtcdTally): string {
  const how =
    healthy === 0
      ? "There are no healthy etcd member"
      : `${healthy} of ${members} etcd members ${healthy === 1 ? "is" : "are"} healthy`;
  const learning = learners > 0 ? ` ${learners} learner etcd member,` : "";
  return `* ${how},${learning} at least ${quorum} healthy member required for etcd quorum`;
}
