import { deepEqual, findCondition, type LabelSelectorObject, selectorOrProblem } from "@capstan/apimachinery";
import { PAUSED_ANNOTATION } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import { kubeletCure, type WantedKubelet, wrongKubelet } from "./wanted-kubelet.ts";

/** An agent that has not sent a heartbeat for this long counts as disconnected. */
export const SILENT_AFTER_MS = 3 * 60_000;

/** Label that names the failure domain of a host, the same one as on Nodes. */
export const ZONE_LABEL = "topology.kubernetes.io/zone";

/** Tolerated difference between a host's clock and the manager's. */
export const SKEW_MS = 60_000;

/** What a machine requires of its host. */
export interface Wanted {
  readonly selector?: LabelSelectorObject | undefined;
  readonly failureDomain?: string | undefined;
  /** The kubelet that must already be on the host; absent if an installer installs it. */
  readonly kubelet?: WantedKubelet | undefined;
}

/** The ByoHosts of a namespace. */
export interface HostLists {
  /** Hosts that can be claimed according to their objects; may include others. */
  readonly free: readonly ByoHost[];
  /** All hosts; called only if none can be claimed, to explain why. */
  all(): readonly ByoHost[];
}

/** What the manager knows about hosts in addition to their objects. */
export interface Knowledge {
  /** Whether a claim of the host is in flight, which its object does not show yet. */
  isTaken?(host: ByoHost): boolean;
  /** When the last heartbeat arrived, by the manager's clock. */
  heardAt?(host: ByoHost): number | undefined;
  /** Another host that had the same machine-id first. */
  twinOf?(host: ByoHost): ByoHost | undefined;
}

/** The host that a machine should claim, or the reason why there is none. */
export type Choice = { host: ByoHost } | { reason: string };

/** Returns a predicate for hosts that meet a machine's requirements, whether or not they are free. */
export function hostMatches(wanted: Wanted): (host: ByoHost) => boolean {
  const selector = wanted.selector === undefined ? undefined : selectorOrProblem(wanted.selector, "spec.selector");
  return (host) =>
    (selector === undefined || selector.matches(labelsOf(host))) &&
    isIn(wanted.failureDomain, host) &&
    wrongKubelet(host, wanted.kubelet) === undefined;
}

/** Reports whether a change may have made a host claimable; regular heartbeats do not count. */
export function isNews(host: ByoHost, old: ByoHost | undefined): boolean {
  if (whyTaken(host) !== undefined) return false;
  if (old === undefined || whyTaken(old) !== undefined) return true;
  const beat = (of: ByoHost): number => Date.parse(of.status?.lastHeartbeatTime ?? "");
  const inTime = Math.abs(beat(host) - beat(old)) <= SILENT_AFTER_MS;
  return (
    !inTime ||
    host.status?.machineID !== old.status?.machineID ||
    host.status?.hostinfo?.kubeletVersion !== old.status?.hostinfo?.kubeletVersion ||
    !deepEqual(labelsOf(host), labelsOf(old))
  );
}

/** Returns the free, healthy host that matches and is first by name, or the reason why none can be claimed. */
export function chooseHost(hosts: HostLists, wanted: Wanted, nowMs: number, known: Knowledge = {}): Choice {
  const selector = wanted.selector === undefined ? undefined : selectorOrProblem(wanted.selector, "spec.selector");
  if (selector?.problem !== undefined) return { reason: selector.problem };
  const problemOf = (host: ByoHost): string | undefined =>
    known.isTaken?.(host) === true ? "in use" : whyNotFree(host, nowMs, known);
  const matches = hostMatches(wanted);
  let first: ByoHost | undefined;
  for (const host of hosts.free) {
    // Only one that comes before is worth a closer look.
    if (first !== undefined && nameOf(first) <= nameOf(host)) continue;
    if (matches(host) && problemOf(host) === undefined) first = host;
  }
  if (first !== undefined) return { host: first };
  const isSelected = (host: ByoHost): boolean => selector === undefined || selector.matches(labelsOf(host));
  return { reason: explain(hosts.all(), wanted, isSelected, problemOf) };
}

/** Counts the hosts that a machine could claim. */
export function countFree(hosts: HostLists, wanted: Wanted, nowMs: number, known: Knowledge): number {
  const matches = hostMatches(wanted);
  return hosts.free.filter(
    (host) => known.isTaken?.(host) !== true && matches(host) && whyNotFree(host, nowMs, known) === undefined,
  ).length;
}

function explain(
  hosts: readonly ByoHost[],
  { failureDomain: zone, kubelet }: Wanted,
  isSelected: (host: ByoHost) => boolean,
  problemOf: (host: ByoHost) => string | undefined,
): string {
  if (hosts.length === 0) return "there are no hosts: enrol one with: capstan host add NAME";
  const selected = hosts.filter(isSelected);
  if (selected.length === 0)
    return `none of ${hosts.length} hosts matches the selector: label a host, or change the selector`;
  const matching = selected.filter((host) => isIn(zone, host));
  if (matching.length === 0)
    return `none of ${selected.length} matching hosts is in failure domain ${zone}: label one ${ZONE_LABEL}=${zone}`;
  const counts = new Map<string, number>();
  const skipped: ByoHost[] = [];
  for (const host of matching) {
    const problem = problemOf(host);
    if (problem === undefined && wrongKubelet(host, kubelet) !== undefined) skipped.push(host);
    else counts.set(problem ?? "just become free", (counts.get(problem ?? "just become free") ?? 0) + 1);
  }
  const why = [
    ...[...counts].map(([problem, count]) => `${count} ${problem}`),
    ...(skipped.length === 0 ? [] : [`${skipped.length} with another kubelet`]),
  ].join(", ");
  const cure = skipped.length === 0 ? "enrol another with: capstan host add NAME" : kubeletCure(skipped, kubelet);
  return `of ${matching.length} matching hosts none is free (${why}): ${cure}`;
}

function isIn(zone: string | undefined, host: ByoHost): boolean {
  return zone === undefined || failureDomainOf(host) === zone;
}

function nameOf({ metadata }: ByoHost): string {
  return metadata.name ?? "";
}

/** Returns the failure domain of a host. */
export function failureDomainOf(host: ByoHost): string | undefined {
  return labelsOf(host)[ZONE_LABEL];
}

function labelsOf(host: ByoHost): Record<string, string> {
  return { ...host.spec?.labels, ...host.metadata.labels };
}

/** Returns why a host cannot be claimed according to its object, or undefined if it can. */
export function whyTaken({ metadata, spec, status }: ByoHost): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return "being deleted";
  if (spec?.machineRef !== undefined) return "in use";
  if (spec?.release !== undefined) return "being cleaned";
  if (metadata.annotations?.[PAUSED_ANNOTATION] !== undefined) return "paused";
  if (spec?.unschedulable === true) return "set unschedulable";
  return findCondition(status?.conditions ?? [], "Ready")?.status === "True" ? undefined : "not ready";
}

/** Why a host cannot be claimed now. */
function whyNotFree(host: ByoHost, nowMs: number, known: Knowledge): string | undefined {
  const taken = whyTaken(host);
  // Silence says more than what the agent last said.
  if ((taken === undefined || taken === "not ready") && isSilent(host, nowMs, known.heardAt?.(host)))
    return "not heard of";
  if (taken !== undefined) return taken;
  // Nodes are told apart by it: two hosts cloned from one image would be one node.
  const twin = known.twinOf?.(host);
  return twin === undefined ? undefined : `with the machine-id of ${twin.metadata.name}`;
}

/**
 * Reports whether a host's agent has stopped sending heartbeats. Their timestamps come from the host's clock, so the time at which the
 * manager saw one arrive counts too.
 */
export function isSilent(host: ByoHost, nowMs: number, heardAt?: number): boolean {
  const written = Date.parse(host.status?.lastHeartbeatTime ?? "");
  // From the future: that clock says nothing about now.
  const word = Number.isNaN(written) || written > nowMs + SKEW_MS ? Number.NEGATIVE_INFINITY : written;
  return nowMs - Math.max(word, heardAt ?? Number.NEGATIVE_INFINITY) > SILENT_AFTER_MS;
}
