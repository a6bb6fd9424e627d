import { findCondition, labelSelectorFromObject } from "@capstan/apimachinery";
import type { ByoHost } from "@capstan/host-agent";

/** An agent that has not reported for this long is taken for gone. */
export const SILENT_AFTER_MS = 3 * 60_000;

type Selector = Parameters<typeof labelSelectorFromObject>[0];

/** The host a machine should claim, or why there is none. */
export type Choice = { host: ByoHost } | { reason: string };

/** The first free, healthy host that matches, by name, so that all look at them in the same order. */
export function chooseHost(hosts: readonly ByoHost[], selector: Selector, nowMs: number): Choice {
  const wanted = selector === undefined ? undefined : labelSelectorFromObject(selector);
  const matching = hosts.filter(
    (host) => wanted === undefined || wanted.matches({ ...host.spec?.labels, ...host.metadata.labels }),
  );
  const counts = new Map<string, number>();
  const free: ByoHost[] = [];
  for (const host of matching) {
    const problem = whyNotFree(host, hosts, nowMs);
    if (problem === undefined) free.push(host);
    else counts.set(problem, (counts.get(problem) ?? 0) + 1);
  }
  free.sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  const first = free[0];
  if (first !== undefined) return { host: first };
  if (hosts.length === 0) return { reason: "there are no hosts: enrol one with: capstan host add NAME" };
  if (matching.length === 0)
    return { reason: `none of ${hosts.length} hosts matches the selector: label a host, or change the selector` };
  const why = [...counts].map(([problem, count]) => `${count} ${problem}`).join(", ");
  return {
    reason: `of ${matching.length} matching hosts none is free (${why}): enrol another with: capstan host add NAME`,
  };
}

/** Why a host cannot be claimed now. */
export function whyNotFree(host: ByoHost, all: readonly ByoHost[], nowMs: number): string | undefined {
  if (host.metadata.deletionTimestamp !== undefined) return "being deleted";
  if (host.spec?.machineRef !== undefined) return "in use";
  if (host.spec?.release !== undefined) return "being cleaned";
  if (host.spec?.unschedulable === true) return "set unschedulable";
  if (isSilent(host, nowMs)) return "not heard of";
  if (findCondition(host.status?.conditions ?? [], "Ready")?.status !== "True") return "not ready";
  const id = host.status?.machineID;
  // Nodes are told apart by it: two hosts cloned from one image would be one node.
  const twin = id === undefined ? undefined : all.find((other) => other !== host && other.status?.machineID === id);
  return twin === undefined ? undefined : `with the machine-id of ${twin.metadata.name}`;
}

/** Whether a host's agent has stopped reporting. */
export function isSilent(host: ByoHost, nowMs: number): boolean {
  const last = Date.parse(host.status?.lastHeartbeatTime ?? "");
  return Number.isNaN(last) || nowMs - last > SILENT_AFTER_MS;
}
