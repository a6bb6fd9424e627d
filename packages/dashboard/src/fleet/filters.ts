import { STATES, type StateName } from "@capstan/capi";
import type { FleetRow } from "@capstan/dashboard-server";

/** Columns by which the fleet table can be sorted. */
export const SORTS = ["name", "version", "workers", "age", "problem"] as const;
/** A column by which the fleet table can be sorted. */
export type Sort = (typeof SORTS)[number];

/** The filter in the URL of the fleet page, which can be bookmarked and shared. An absent field means no restriction. */
export interface FleetSearch {
  readonly q?: string;
  readonly problems?: true;
  readonly namespace?: string;
  readonly provider?: string;
  readonly version?: string;
  readonly sort?: Sort;
  readonly desc?: true;
}

/** Parses the filter from the URL; invalid parts are ignored. */
export function parseFleetSearch(raw: Readonly<Record<string, unknown>>): FleetSearch {
  const text = (key: string): string | undefined => {
    const value = raw[key];
    return typeof value === "string" || typeof value === "number"
      ? String(value).slice(0, 200) || undefined
      : undefined;
  };
  const sort = SORTS.find((candidate) => candidate === raw["sort"]);
  const [q, namespace, provider, version] = [text("q"), text("namespace"), text("provider"), text("version")];
  return {
    q,
    ...(raw["problems"] === true || raw["problems"] === "true" ? { problems: true as const } : {}),
    namespace,
    provider,
    version,
    sort,
    ...(raw["desc"] === true || raw["desc"] === "true" ? { desc: true as const } : {}),
  };
}

/** Returns the rows that match the filter, sorted as it says. Every word of `q` must occur in the text of the row. */
export function filterFleet(rows: Iterable<FleetRow>, search: FleetSearch): FleetRow[] {
  const words = (search.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const kept: FleetRow[] = [];
  for (const row of rows) {
    if (search.problems === true && !isProblem(row)) continue;
    if (search.namespace !== undefined && row.namespace !== search.namespace) continue;
    if (search.provider !== undefined && !row.providers.includes(search.provider)) continue;
    if (search.version !== undefined && row.version !== search.version) continue;
    if (words.length > 0) {
      const text = textOf(row);
      if (!words.every((word) => text.includes(word))) continue;
    }
    kept.push(row);
  }
  const order = ORDERS[search.sort ?? "name"];
  const sign = search.desc === true ? -1 : 1;
  return kept.sort((a, b) => sign * (order(a, b) || byName(a, b)));
}

/** Whether a cluster needs attention; one that is progressing, paused or hibernated does not. */
function isProblem({ state }: FleetRow): boolean {
  return state.state === "Degraded" || state.state === "Unknown";
}

function textOf(row: FleetRow): string {
  const { namespace, name, phase, version, providers, state } = row;
  return [`${namespace}/${name}`, phase, version, ...providers, state.state, state.reason, state.message]
    .join(" ")
    .toLowerCase();
}

const byName = (a: FleetRow, b: FleetRow): number => compare(a.name, b.name) || compare(a.namespace, b.namespace);

const ORDERS: Readonly<Record<Sort, (a: FleetRow, b: FleetRow) => number>> = {
  name: byName,
  version: (a, b) => compareVersions(a.version, b.version),
  workers: (a, b) => a.workers[1] - b.workers[1],
  // The youngest first, so that ages increase downwards.
  age: (a, b) => compare(b.created, a.created),
  // The worst first.
  problem: (a, b) => STATES.indexOf(a.state.state) - STATES.indexOf(b.state.state),
};

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares versions numerically: v1.9.0 comes before v1.34.4. */
export function compareVersions(a: string, b: string): number {
  const parts = (version: string): number[] =>
    version
      .replace(/^v/, "")
      .split(/[.+-]/)
      .map((part) => Number.parseInt(part, 10) || 0);
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Returns the values that the filters offer. */
export function choicesOf(rows: Iterable<FleetRow>): { namespaces: string[]; providers: string[]; versions: string[] } {
  const namespaces = new Set<string>();
  const providers = new Set<string>();
  const versions = new Set<string>();
  for (const row of rows) {
    namespaces.add(row.namespace);
    for (const provider of row.providers) providers.add(provider);
    if (row.version !== "") versions.add(row.version);
  }
  return {
    namespaces: [...namespaces].sort(),
    providers: [...providers].sort(),
    versions: [...versions].sort((a, b) => compareVersions(b, a)),
  };
}

/** Totals of the fleet. */
export interface FleetTotals {
  readonly clusters: number;
  readonly healthy: number;
  readonly progressing: number;
  /** Degraded, or of unknown state. */
  readonly problems: number;
  readonly workers: readonly [available: number, desired: number];
}

/** Computes the totals over all rows, regardless of the filter. */
export function totalsOf(rows: Iterable<FleetRow>): FleetTotals {
  const states = new Map<StateName, number>();
  let [clusters, problems, ready, desired] = [0, 0, 0, 0];
  for (const row of rows) {
    clusters++;
    states.set(row.state.state, (states.get(row.state.state) ?? 0) + 1);
    if (isProblem(row)) problems++;
    ready += row.workers[0];
    desired += row.workers[1];
  }
  return {
    clusters,
    healthy: states.get("Healthy") ?? 0,
    progressing: states.get("Progressing") ?? 0,
    problems,
    workers: [ready, desired],
  };
}
