import { findCondition, labelSelectorFromObject } from "@capstan/apimachinery";
import type { ByoHost } from "@capstan/host-agent";

/** An agent that has not reported for this long is taken for gone. */
export const SILENT_AFTER_MS = 3 * 60_000;

/** Says in which failure domain a host stands, as it does on Nodes. */
export const ZONE_LABEL = "topology.kubernetes.io/zone";

/** A host's clock may be off by this much without anybody minding. */
export const SKEW_MS = 60_000;

/** What a machine asks of its host. */
export interface Wanted {
  readonly selector?: Parameters<typeof labelSelectorFromObject>[0];
  readonly failureDomain?: string | undefined;
  /** Kubernetes version of the machine; a kubelet that is newer could be newer than the control plane. Absent when it is installed. */
  readonly version?: string | undefined;
}

/** What is known of hosts beyond their objects. */
export interface Knowledge {
  /** Whether a host is being claimed right now, which its object does not show yet. */
  isTaken?(host: ByoHost): boolean;
  /** When a heartbeat was last seen to arrive, by our own clock. */
  heardAt?(host: ByoHost): number | undefined;
}

/** The host a machine should claim, or why there is none. */
export type Choice = { host: ByoHost } | { reason: string };

/** The first free, healthy host that matches, by name, so that all look at them in the same order. */
export function chooseHost(hosts: readonly ByoHost[], wanted: Wanted, nowMs: number, known: Knowledge = {}): Choice {
  const selector = wanted.selector === undefined ? undefined : labelSelectorFromObject(wanted.selector);
  const zone = wanted.failureDomain;
  const selected = hosts.filter((host) => selector === undefined || selector.matches(labelsOf(host)));
  const matching = selected.filter((host) => zone === undefined || failureDomainOf(host) === zone);
  const twins = byMachineID(hosts);
  const counts = new Map<string, number>();
  let first: ByoHost | undefined;
  for (const host of matching) {
    const problem =
      known.isTaken?.(host) === true
        ? "in use"
        : (whyNotFree(host, twins, nowMs, known.heardAt?.(host)) ?? wrongKubelet(host, wanted.version));
    if (problem !== undefined) counts.set(problem, (counts.get(problem) ?? 0) + 1);
    else if (first === undefined || (host.metadata.name ?? "") < (first.metadata.name ?? "")) first = host;
  }
  if (first !== undefined) return { host: first };
  if (hosts.length === 0) return { reason: "there are no hosts: enrol one with: capstan host add NAME" };
  if (selected.length === 0)
    return { reason: `none of ${hosts.length} hosts matches the selector: label a host, or change the selector` };
  if (matching.length === 0)
    return {
      reason: `none of ${selected.length} matching hosts is in failure domain ${zone}: label one ${ZONE_LABEL}=${zone}`,
    };
  const why = [...counts].map(([problem, count]) => `${count} ${problem}`).join(", ");
  return {
    reason: `of ${matching.length} matching hosts none is free (${why}): enrol another with: capstan host add NAME`,
  };
}

/** The failure domain a host stands in. */
export function failureDomainOf(host: ByoHost): string | undefined {
  return labelsOf(host)[ZONE_LABEL];
}

function labelsOf(host: ByoHost): Record<string, string> {
  return { ...host.spec?.labels, ...host.metadata.labels };
}

/** A kubelet must never be newer than its control plane, and a machine's version never is. */
function wrongKubelet(host: ByoHost, version: string | undefined): string | undefined {
  const found = host.status?.hostinfo?.kubeletVersion;
  if (found === undefined || version === undefined || minorOf(found) <= minorOf(version)) return undefined;
  return `with kubelet ${found}, newer than ${version}`;
}

function minorOf(version: string): number {
  const [, major = "0", minor = "0"] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) * 1000 + Number(minor);
}

function byMachineID(hosts: readonly ByoHost[]): Map<string, ByoHost[]> {
  const all = new Map<string, ByoHost[]>();
  for (const host of hosts) {
    const id = host.status?.machineID;
    if (id === undefined) continue;
    const same = all.get(id);
    if (same === undefined) all.set(id, [host]);
    else same.push(host);
  }
  return all;
}

/** Why a host cannot be claimed now. */
function whyNotFree(
  host: ByoHost,
  twins: ReadonlyMap<string, readonly ByoHost[]>,
  nowMs: number,
  heardAt: number | undefined,
): string | undefined {
  if (host.metadata.deletionTimestamp !== undefined) return "being deleted";
  if (host.spec?.machineRef !== undefined) return "in use";
  if (host.spec?.release !== undefined) return "being cleaned";
  if (host.spec?.unschedulable === true) return "set unschedulable";
  if (isSilent(host, nowMs, heardAt)) return "not heard of";
  if (findCondition(host.status?.conditions ?? [], "Ready")?.status !== "True") return "not ready";
  // Nodes are told apart by it: two hosts cloned from one image would be one node.
  const twin = twins.get(host.status?.machineID ?? "")?.find((other) => other !== host);
  return twin === undefined ? undefined : `with the machine-id of ${twin.metadata.name}`;
}

/** Whether a host's agent has stopped reporting. What a host writes is by its own clock: a heartbeat that we saw arrive counts more. */
export function isSilent(host: ByoHost, nowMs: number, heardAt?: number): boolean {
  const written = Date.parse(host.status?.lastHeartbeatTime ?? "");
  // From the future: that clock says nothing about now.
  const word = Number.isNaN(written) || written > nowMs + SKEW_MS ? Number.NEGATIVE_INFINITY : written;
  return nowMs - Math.max(word, heardAt ?? Number.NEGATIVE_INFINITY) > SILENT_AFTER_MS;
}
