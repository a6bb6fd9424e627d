import { findCondition, labelSelectorFromObject } from "@capstan/apimachinery";
import type { ByoHost } from "@capstan/host-agent";

/** An agent that has not reported for this long is taken for gone. */
export const SILENT_AFTER_MS = 3 * 60_000;

/** Says in which failure domain a host stands, as it does on Nodes. */
export const ZONE_LABEL = "topology.kubernetes.io/zone";

/** What a machine asks of its host. */
export interface Wanted {
  readonly selector?: Parameters<typeof labelSelectorFromObject>[0];
  readonly failureDomain?: string | undefined;
}

/** The host a machine should claim, or why there is none. */
export type Choice = { host: ByoHost } | { reason: string };

/** The first free, healthy host that matches, by name, so that all look at them in the same order. */
export function chooseHost(
  hosts: readonly ByoHost[],
  wanted: Wanted,
  nowMs: number,
  taken: Taken = () => false,
): Choice {
  const selector = wanted.selector === undefined ? undefined : labelSelectorFromObject(wanted.selector);
  const zone = wanted.failureDomain;
  const selected = hosts.filter((host) => selector === undefined || selector.matches(labelsOf(host)));
  const matching = selected.filter((host) => zone === undefined || failureDomainOf(host) === zone);
  const twins = byMachineID(hosts);
  const counts = new Map<string, number>();
  let first: ByoHost | undefined;
  for (const host of matching) {
    const problem = taken(host) ? "in use" : whyNotFree(host, twins, nowMs);
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

/** Whether a host is being claimed right now, which its object does not show yet. */
type Taken = (host: ByoHost) => boolean;

/** The failure domain a host stands in. */
export function failureDomainOf(host: ByoHost): string | undefined {
  return labelsOf(host)[ZONE_LABEL];
}

function labelsOf(host: ByoHost): Record<string, string> {
  return { ...host.spec?.labels, ...host.metadata.labels };
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
function whyNotFree(host: ByoHost, twins: ReadonlyMap<string, readonly ByoHost[]>, nowMs: number): string | undefined {
  if (host.metadata.deletionTimestamp !== undefined) return "being deleted";
  if (host.spec?.machineRef !== undefined) return "in use";
  if (host.spec?.release !== undefined) return "being cleaned";
  if (host.spec?.unschedulable === true) return "set unschedulable";
  if (isSilent(host, nowMs)) return "not heard of";
  if (findCondition(host.status?.conditions ?? [], "Ready")?.status !== "True") return "not ready";
  // Nodes are told apart by it: two hosts cloned from one image would be one node.
  const twin = twins.get(host.status?.machineID ?? "")?.find((other) => other !== host);
  return twin === undefined ? undefined : `with the machine-id of ${twin.metadata.name}`;
}

/** Whether a host's agent has stopped reporting. */
export function isSilent(host: ByoHost, nowMs: number): boolean {
  const last = Date.parse(host.status?.lastHeartbeatTime ?? "");
  return Number.isNaN(last) || nowMs - last > SILENT_AFTER_MS;
}
