import { deepEqual, findCondition, type LabelSelectorObject, selectorOrProblem } from "@capstan/apimachinery";
import { explainNoHost, firstByName, type HostTexts, PAUSED_ANNOTATION } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import { kubeletCure, type WantedKubelet, wrongKubelet } from "./wanted-kubelet.ts";

/** An agent that has not sent a heartbeat for this long counts as disconnected. */
export const SILENT_AFTER_MS = 3 * 60_000;

/** Label that names the failure domain of a host, the same one as on Nodes. */
export const ZONE_LABEL = "topology.kubernetes.io/zone";

/** Tolerated difference between a host's clock and the manager's. */
export const SKEW_MS = 60_000;

const TEXTS: HostTexts = {
  hosts: "hosts",
  none: "there are no hosts: enrol one with: capstan host add NAME",
  selector: "the selector",
  label: "a host",
  domainLabel: ZONE_LABEL,
  free: "free",
};

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

/** Returns a predicate for hosts that a machine could claim now. */
export function isClaimable(wanted: Wanted, nowMs: number, known: Knowledge): (host: ByoHost) => boolean {
  const matches = hostMatches(wanted);
  return (host) => matches(host) && problemOf(host, nowMs, known) === undefined;
}

/** Returns the free, healthy host that matches and is first by name, or the reason why none can be claimed. */
export function chooseHost(hosts: HostLists, wanted: Wanted, nowMs: number, known: Knowledge = {}): Choice {
  const selector = wanted.selector === undefined ? undefined : selectorOrProblem(wanted.selector, "spec.selector");
  if (selector?.problem !== undefined) return { reason: selector.problem };
  const host = firstByName(hosts.free, isClaimable(wanted, nowMs, known));
  if (host !== undefined) return { host };
  const { failureDomain, kubelet } = wanted;
  const why = (each: ByoHost): string | undefined => problemOf(each, nowMs, known);
  const isSkipped = (each: ByoHost): boolean => why(each) === undefined && wrongKubelet(each, kubelet) !== undefined;
  const [skipped, others] = partition(hosts.all(), isSkipped);
  const reason = explainNoHost([...others, ...skipped], TEXTS, {
    failureDomain,
    isSelected: (each) => selector === undefined || selector.matches(labelsOf(each)),
    isInDomain: (each) => isIn(failureDomain, each),
    why: (each) => (skipped.includes(each) ? "with another kubelet" : (why(each) ?? "just become free")),
    cure: (matching) => {
      const wrong = matching.filter((each) => skipped.includes(each));
      return wrong.length === 0 ? "enrol another with: capstan host add NAME" : kubeletCure(wrong, kubelet);
    },
  });
  return { reason };
}

function partition<T>(all: readonly T[], test: (each: T) => boolean): [T[], T[]] {
  const [yes, no]: [T[], T[]] = [[], []];
  for (const each of all) (test(each) ? yes : no).push(each);
  return [yes, no];
}

function isIn(zone: string | undefined, host: ByoHost): boolean {
  return zone === undefined || failureDomainOf(host) === zone;
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

function problemOf(host: ByoHost, nowMs: number, known: Knowledge): string | undefined {
  return known.isTaken?.(host) === true ? "in use" : whyNotFree(host, nowMs, known);
}

/** Why a host cannot be claimed now. */
function whyNotFree(host: ByoHost, nowMs: number, known: Knowledge): string | undefined {
  const taken = whyTaken(host);
  // Silence takes precedence over the agent's last report.
  if ((taken === undefined || taken === "not ready") && isSilent(host, nowMs, known.heardAt?.(host)))
    return "not reporting";
  if (taken !== undefined) return taken;
  // Nodes are distinguished by it: two hosts cloned from one image would be one node.
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
