import { isObject, type Unstructured } from "@capstan/apimachinery";
import type { ClusterPlan, WorkerGroup } from "./cluster-plan.ts";
import { WORKER_PROVIDERS } from "./worker-providers.ts";

/** The kind of host that a group's machines are made of; undefined where machines are made as needed. */
export function hostKindOf({ provider }: Pick<WorkerGroup, "provider">): HostKind | undefined {
  return WORKER_PROVIDERS[provider].hosts;
}

/** Hosts that a provider chooses from. */
export interface HostKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** What a person does to have one more. */
  readonly cure: string;
  /** The command that does it, where there is one. */
  readonly command?: string;
  /** Whether a machine could have the host now. */
  isFree(host: Unstructured): boolean;
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

/** What a shortage is, for people: `own needs 2 free ByoHosts that match, there is 1`. */
export function shortageText({ group, kind, wanted, free }: Shortage): string {
  const hosts = `${kind}${wanted === 1 ? "" : "s"}`;
  const match = wanted === 1 ? "matches" : "match";
  return `${group} needs ${wanted} free ${hosts} that ${match}, there ${free === 1 ? "is" : "are"} ${free}`;
}

/**
 * Groups with fewer matching free hosts than they ask for. A host counts for one group only; members of a pool ask for their
 * minimum, and the pool as a whole for its replicas unless one of its members makes machines as needed.
 */
export function shortages(plan: ClusterPlan, hosts: readonly Unstructured[]): Shortage[] {
  const taken = new Set<Unstructured>();
  const found: Shortage[] = [];
  let free = 0;
  let unlimited = false;
  for (const group of plan.workers) {
    const kind = hostKindOf(group);
    if (kind === undefined) {
      unlimited = true;
      continue;
    }
    const fitting = hosts.filter((host) => !taken.has(host) && fits(host, kind, group));
    const wanted = plan.pool === undefined ? group.replicas : (group.share?.min ?? 0);
    const most = plan.pool === undefined ? wanted : (group.share?.max ?? fitting.length);
    for (const host of fitting.slice(0, most)) taken.add(host);
    free += Math.min(fitting.length, most);
    if (fitting.length < wanted)
      found.push({ group: group.name, kind: kind.kind, wanted, free: fitting.length, ...cureOf(kind) });
  }
  const { pool } = plan;
  if (pool !== undefined && !unlimited && free < pool.replicas && found.length === 0) {
    const first = plan.workers.map(hostKindOf).find((kind) => kind !== undefined);
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
