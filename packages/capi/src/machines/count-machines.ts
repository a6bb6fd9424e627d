import semver from "semver";
import type { Machine } from "../kinds/machine.ts";

/** The replica counts in the status of an owner of Machines. */
export interface MachineCounts {
  replicas: number;
  readyReplicas: number;
  availableReplicas: number;
  upToDateReplicas: number;
}

/** Counts Machines: all, ready, available and up to date. */
export function countMachines(machines: readonly Machine[]): MachineCounts {
  let readyReplicas = 0;
  let availableReplicas = 0;
  let upToDateReplicas = 0;
  for (const machine of machines) {
    for (const condition of machine.status?.conditions ?? []) {
      if (condition.status !== "True") continue;
      if (condition.type === "Ready") readyReplicas++;
      else if (condition.type === "Available") availableReplicas++;
      else if (condition.type === "UpToDate") upToDateReplicas++;
    }
  }
  return { replicas: machines.length, readyReplicas, availableReplicas, upToDateReplicas };
}

/** Counts Machines by version, oldest version first. */
export function countVersions(machines: readonly Machine[]): { version: string; replicas: number }[] {
  const counts = new Map<string, number>();
  for (const machine of machines) {
    const version = machine.status?.nodeInfo?.["kubeletVersion"] ?? machine.spec.version;
    if (version !== undefined && version !== "") counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => compareVersions(a, b)).map(([version, replicas]) => ({ version, replicas }));
}

/** Compares versions; invalid ones sort first. */
export function compareVersions(a: string, b: string): number {
  const left = semver.parse(a);
  const right = semver.parse(b);
  if (left === null || right === null) return left === right ? (a < b ? -1 : 1) : left === null ? -1 : 1;
  return semver.compare(left, right);
}

const MAX_NAMES = 3;

/** Names a few Machines for a message, such as `Machines a, b, c, ... (2 more)`. */
export function machineNames(machines: readonly Machine[]): string {
  const sorted = machines.map((machine) => machine.metadata.name ?? "").sort();
  const more = sorted.length > MAX_NAMES ? `, ... (${sorted.length - MAX_NAMES} more)` : "";
  return `${sorted.length === 1 ? "Machine" : "Machines"} ${sorted.slice(0, MAX_NAMES).join(", ")}${more}`;
}

const STALE_MS = 15 * 60_000;

/** Names Machines whose deletion takes more than 15 minutes; undefined if there are none. */
export function staleDeletions(machines: readonly Machine[], nowMs: number): string | undefined {
  const stale = machines.filter(({ metadata }) => {
    const since = metadata.deletionTimestamp;
    return since !== undefined && nowMs - Date.parse(since) > STALE_MS;
  });
  return stale.length === 0 ? undefined : `${machineNames(stale)} in deletion since more than 15m`;
}
