import type { HostRow } from "@capstan/dashboard-server";

/** The filter in the URL of the hosts page. */
export interface HostSearch {
  readonly q?: string;
  readonly problems?: true;
}

/** Returns the hosts that match the filter, sorted by name. */
export function filterHosts(rows: Iterable<HostRow>, search: HostSearch): HostRow[] {
  const words = (search.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return [...rows]
    .filter((row) => search.problems !== true || row.health.state === "Degraded" || row.health.state === "Unknown")
    .filter((row) => words.every((word) => textOf(row).includes(word)))
    .sort((a, b) => a.name.localeCompare(b.name) || a.namespace.localeCompare(b.namespace));
}

function textOf(row: HostRow): string {
  return [
    row.name,
    row.namespace,
    row.provider,
    row.kind,
    row.state,
    row.machine,
    row.cluster,
    row.system,
    row.health.state,
    row.health.reason,
    ...row.addresses,
  ]
    .join(" ")
    .toLowerCase();
}
