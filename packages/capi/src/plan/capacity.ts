import { isObject, type Unstructured } from "@capstan/apimachinery";
import type { HostKind, ProviderDescription } from "../sdk/description.ts";
import { type ClusterPlan, machineGroups, type WorkerGroup } from "./cluster-plan.ts";

/** The kind of hosts of a group; undefined if its machines are created on demand. */
export function hostKindOf(
  { provider }: Pick<WorkerGroup, "provider">,
  providers: readonly ProviderDescription[],
): HostKind | undefined {
  const found = providers.find(({ name }) => name === provider);
  return found?.hosts?.find(({ kind }) => kind === found.workers?.hostKind);
}

/** A group that would wait for hosts. */
export interface Shortage {
  readonly group: string;
  readonly kind: string;
  readonly wanted: number;
  readonly free: number;
  readonly cure: string;
  readonly command?: string;
}

/** Describes a shortage: `racks needs 2 free LabHosts that match, there is 1`. */
export function shortageText({ group, kind, wanted, free }: Shortage): string {
  const hosts = `${kind}${wanted === 1 ? "" : "s"}`;
  const match = wanted === 1 ? "matches" : "match";
  return `${group} needs ${wanted} free ${hosts} that ${match}, there ${free === 1 ? "is" : "are"} ${free}`;
}

/**
 * Groups with fewer matching free hosts than they need. A host counts for one group only; members of a pool need their
 * minimum, and the pool as a whole for its replicas unless one of its members creates machines on demand.
 */
export function shortages(
  plan: ClusterPlan,
  hosts: readonly Unstructured[],
  providers: readonly ProviderDescription[],
): Shortage[] {
  const taken = new Set<Unstructured>();
  const found: Shortage[] = [];
  let free = 0;
  let unlimited = false;
  for (const group of machineGroups(plan)) {
    const kind = hostKindOf(group, providers);
    if (kind === undefined) {
      if (group !== plan.controlPlane?.machines) unlimited = true;
      continue;
    }
    const fitting = hosts.filter((host) => !taken.has(host) && fits(host, kind, group));
    const pooled = plan.pool !== undefined && group !== plan.controlPlane?.machines;
    const wanted = pooled ? (group.share?.min ?? 0) : group.replicas;
    const most = pooled ? (group.share?.max ?? fitting.length) : wanted;
    for (const host of fitting.slice(0, most)) taken.add(host);
    if (pooled) free += Math.min(fitting.length, most);
    if (fitting.length < wanted)
      found.push({ group: group.name, kind: kind.kind, wanted, free: fitting.length, ...cureOf(kind) });
  }
  const { pool } = plan;
  if (pool !== undefined && !unlimited && free < pool.replicas && found.length === 0) {
    const first = plan.workers.map((group) => hostKindOf(group, providers)).find((kind) => kind !== undefined);
    found.push({ group: pool.name, kind: "host", wanted: pool.replicas, free, ...cureOf(first) });
  }
  return found;
}

function cureOf(kind: HostKind | undefined): Pick<Shortage, "cure" | "command"> {
  return { cure: kind?.cure ?? "", ...(kind?.command === undefined ? {} : { command: kind.command }) };
}

function fits(host: Unstructured, kind: HostKind, { select }: WorkerGroup): boolean {
  if (host.kind !== kind.kind || !kind.isFree(host)) return false;
  const labels: unknown = host.metadata.labels;
  return Object.entries(select).every(([key, value]) => isObject(labels) && labels[key] === value);
}
