import { machineDuringRun } from "./machine.ts";

/** One measured figure, as every bench reports it. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The peer's value from the same run, where there is a peer. */
  peer: number | null;
  /** The goal, as it was set. */
  goal: string;
  ok: boolean;
}

/** A figure without a peer. */
export function figure(name: string, value: number, unit: string, goal: string, ok: boolean): Figure {
  return { name, value, unit, peer: null, goal, ok };
}

/** Prints a table for people and the RESULT line for programs. */
export function report(bench: string, figures: readonly Figure[]): void {
  const rows = [
    ["figure", "ours", "peer", "unit", "goal", "reached"],
    ...figures.map((f) => [
      f.name,
      round(f.value),
      f.peer === null ? "-" : round(f.peer),
      f.unit,
      f.goal,
      f.ok ? "yes" : "NO",
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  console.log(machineDuringRun());
  console.log(`RESULT ${JSON.stringify({ bench, figures })}`);
}

function round(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** The value below which a share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
