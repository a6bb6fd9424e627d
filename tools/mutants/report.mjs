/** What is printed about the mutants of a package. */
import { interval } from "./sample.mjs";

/**
 * @typedef {import("./instrument.mjs").Mutant & { id: number }} Tried
 * @typedef {import("./drive.mjs").Results} Results
 *
 * @typedef {object} Measured
 * @property {string} folder
 * @property {number} population All mutants of the package.
 * @property {Tried[]} tried
 * @property {Results[]} shares
 * @property {string} copy
 * @property {number} seconds
 */

/** @param {Measured} measured */
export function counts({ tried, shares }) {
  const killed = new Set(shares.flatMap((share) => [...share.killed.keys()]));
  const timedOut = new Set(shares.flatMap((share) => [...share.timedOut]));
  const reached = new Set(shares.flatMap((share) => [...share.reached]));
  const caught = tried.filter(({ id }) => killed.has(id) || timedOut.has(id));
  const rest = tried.filter(({ id }) => !killed.has(id) && !timedOut.has(id));
  return {
    mutants: tried.length,
    killed: caught.filter(({ id }) => !timedOut.has(id)).length,
    timedOut: tried.filter(({ id }) => timedOut.has(id)).length,
    survivors: rest.filter(({ id }) => reached.has(id)),
    uncovered: rest.filter(({ id }) => !reached.has(id)),
    caught: caught.length,
  };
}

/**
 * @param {Measured} measured
 * @param {boolean} list Whether to name the survivors.
 * @returns {string[]}
 */
export function report(measured, list) {
  const { survivors, uncovered } = counts(measured);
  const lines = [`=== ${measured.folder}, ${measured.seconds.toFixed(0)} s`];
  const unusable = new Map(measured.shares.flatMap((share) => [...share.unusable]));
  for (const [file, why] of unusable) lines.push(`left out: ${file.replace(`${measured.copy}/`, "")}: ${why}`);
  if (list) {
    const named = [
      ...survivors.map((mutant) => ({ mutant, kind: "survived" })),
      ...uncovered.map((mutant) => ({ mutant, kind: "not covered" })),
    ];
    named.sort(({ mutant: a }, { mutant: b }) => a.file.localeCompare(b.file, "en") || a.line - b.line);
    for (const { mutant, kind } of named)
      lines.push(`${mutant.file}:${mutant.line}: ${kind}: ${mutant.what}: ${mutant.source}`);
  }
  return lines;
}

/** A score of fewer mutants than this is reported only. */
const ENOUGH = 50;

/**
 * Whether the score of all mutants is below a share, with the certainty that the samples allow.
 * @param {readonly Measured[]} all
 * @param {number} threshold
 */
export function belowThreshold(all, threshold) {
  const sum = (/** @type {(measured: Measured) => number} */ value) =>
    all.reduce((total, measured) => total + value(measured), 0);
  const tried = sum((measured) => measured.tried.length);
  const caught = sum((measured) => counts(measured).caught);
  return (
    tried >= ENOUGH &&
    interval(
      caught,
      tried,
      sum(({ population }) => population),
    )[1] < threshold
  );
}

/** @param {readonly Measured[]} all */
export function summary(all) {
  const rows = [["package", "mutants", "tried", "killed", "timed out", "survived", "no coverage", "score", "95 %"]];
  for (const measured of all) {
    const { mutants, killed, timedOut, survivors, uncovered, caught } = counts(measured);
    const [low, high] = interval(caught, mutants, measured.population);
    rows.push([
      measured.folder,
      ...[measured.population, mutants, killed, timedOut, survivors.length, uncovered.length].map(String),
      mutants === 0 ? "-" : percent(caught / mutants),
      low === high ? "exact" : `${percent(low)} to ${percent(high)}`,
    ]);
  }
  return table(rows);
}

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(1)} %`;

/** @param {string[][]} rows */
function table(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  "),
  );
}
