import type { Condition } from "@capstan/apimachinery";
import { type ConditionInput, indentLines } from "./conditions.ts";

/** One object of an aggregation, with the condition that is aggregated. */
export interface AggregateItem {
  kind: string;
  name: string;
  /** Absent: the object has not reported it yet. */
  condition: Condition | undefined;
  /** Control plane Machines are listed first in the message. */
  controlPlane?: boolean;
}

/** Which condition `aggregate` reads from the objects, and type and reasons of the condition that it returns. */
export interface AggregateOptions {
  /** Type of the condition that is read from each object. */
  source: string;
  /** Type of the aggregated condition. */
  target: string;
  /** Whether True is the status worth reporting, as with RollingOut. */
  negative?: boolean;
  reasons: { issue: string; unknown: string; info: string };
}

const MAX_MESSAGES = 3;
const MAX_NAMES = 3;

/** As upstream ranks them: issues, then unknown, then additional info. */
type Rank = 0 | 1 | 2;
const OTHERS = ["with other issues", "with status unknown", "with additional info"] as const;

interface Entry {
  kind: string;
  message: string;
  rank: Rank;
  names: string[];
  first: boolean;
}

/** Aggregates one condition of many objects as Cluster API does: at most three messages, each with at most three object names. */
export function aggregate(items: readonly AggregateItem[], options: AggregateOptions): ConditionInput {
  const { source, target, negative = false, reasons } = options;
  const ranked = items.map((item) => ({ ...item, rank: rankOf(item.condition, negative) }));
  const worst = ranked.reduce<Rank>((lowest, { rank }) => (rank < lowest ? rank : lowest), 2);
  const status = worst === 1 ? "Unknown" : (worst === 0) === negative ? "True" : "False";
  const reason = [reasons.issue, reasons.unknown, reasons.info][worst] as string;
  // Additional info is dropped if there are issues or unknown conditions.
  const entry = ranked.flatMap((item) => {
    const message = item.condition?.message ?? `Condition ${source} not yet reported`;
    if (worst === 2) return message === "" ? [] : [{ ...item, message }];
    return item.rank === 2 ? [] : [{ ...item, message: message === "" ? (item.condition?.reason ?? "") : message }];
  });
  return { type: target, status, reason, message: aggregateMessage(entry) };
}

function rankOf(condition: Condition | undefined, negative: boolean): Rank {
  if (condition === undefined || condition.status === "Unknown") return 1;
  return (condition.status === "True") === negative ? 0 : 2;
}

function aggregateMessage(items: readonly (AggregateItem & { message: string; rank: Rank })[]): string {
  const controlPlanes = new Set(items.filter((item) => item.controlPlane === true).map(({ name }) => name));
  const byMessage = new Map<string, Entry>();
  for (const { kind, name, message, rank, controlPlane } of items) {
    const key = `${kind}\n${message}`;
    const entry = byMessage.get(key) ?? { kind, message, rank, names: [], first: false };
    entry.names.push(name);
    entry.first ||= controlPlane === true;
    if (rank < entry.rank) entry.rank = rank;
    byMessage.set(key, entry);
  }
  const kinds = [...new Set(items.map(({ kind }) => kind))].sort();
  const lines: string[] = [];
  let room = MAX_MESSAGES;
  for (const kind of kinds) {
    const all = [...byMessage.values()].filter((entry) => entry.kind === kind);
    for (const entry of all) entry.names.sort((a, b) => controlPlanesFirst(a, b, controlPlanes));
    all.sort(byWeight);
    for (const entry of all.slice(0, room)) lines.push(`* ${namesOf(entry)}:${indentLines(entry.message)}`);
    const rest = all.slice(room);
    room = Math.max(0, room - all.length);
    for (const rank of [0, 1, 2] as const) {
      const count = rest.filter((entry) => entry.rank === rank).reduce((sum, { names }) => sum + names.length, 0);
      if (count > 0) lines.push(`And ${count} ${count === 1 ? kind : plural(kind)} ${OTHERS[rank]}`);
    }
  }
  return lines.join("\n");
}

function byWeight(a: Entry, b: Entry): number {
  return (
    Number(b.first) - Number(a.first) ||
    a.rank - b.rank ||
    b.names.length - a.names.length ||
    (a.names.join(",") < b.names.join(",") ? -1 : 1)
  );
}

function controlPlanesFirst(a: string, b: string, controlPlanes: ReadonlySet<string>): number {
  return Number(controlPlanes.has(b)) - Number(controlPlanes.has(a)) || (a < b ? -1 : 1);
}

function namesOf({ kind, names }: Entry): string {
  const shown = names.slice(0, MAX_NAMES).join(", ");
  if (names.length === 1) return `${kind} ${shown}`;
  const more = names.length > MAX_NAMES ? `, ... (${names.length - MAX_NAMES} more)` : "";
  return `${plural(kind)} ${shown}${more}`;
}

function plural(kind: string): string {
  if (/[^aeiou]y$/.test(kind)) return `${kind.slice(0, -1)}ies`;
  return /(s|x|ch|sh)$/.test(kind) ? `${kind}es` : `${kind}s`;
}
