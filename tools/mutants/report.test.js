import { describe, expect, test } from "vitest";
import { read } from "./drive.mjs";
import { belowThreshold, report, summary } from "./report.mjs";
import { interval, sample } from "./sample.mjs";

/** @returns {import("./drive.mjs").Results} */
const nothing = () => ({
  killed: new Map(),
  timedOut: new Set(),
  reached: new Set(),
  unusable: new Map(),
  durations: new Map(),
  complete: false,
});

/** @param {number} id */
const mutant = (id) => ({
  id,
  file: "a.ts",
  line: id,
  what: `change ${id}`,
  source: "x",
  digest: `${id}`,
  change: /** @type {any} */ ({}),
});

describe("sample", () => {
  const all = Array.from({ length: 100 }, (_, id) => mutant(id));

  test("is the same for the same seed only", () => {
    expect(sample(all, 10, 1)).toEqual(sample(all, 10, 1));
    expect(sample(all, 10, 1)).not.toEqual(sample(all, 10, 2));
  });

  test("stays when mutants elsewhere come or go", () => {
    const drawn = sample(all, 10, 1);
    const fewer = all.filter((item) => drawn.includes(item) || item.id % 2 === 0);
    expect(sample(fewer, 10, 1)).toEqual(drawn);
  });
});

describe("confidence interval", () => {
  test("has the textbook values of Wilson's formula", () => {
    const [low, high] = interval(75, 100, 1e9);
    expect(low).toBeCloseTo(0.657, 3);
    expect(high).toBeCloseTo(0.825, 3);
  });

  test("is a point when all were tried, and narrower the more were tried", () => {
    expect(interval(3, 4, 4)).toEqual([0.75, 0.75]);
    const width = (/** @type {number} */ population) => {
      const [low, high] = interval(75, 100, population);
      return high - low;
    };
    expect(width(120)).toBeLessThan(width(1000));
  });
});

describe("results", () => {
  const lines = (/** @type {object[]} */ ...entries) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");

  test("counts a mutant that stops the process as timed out", () => {
    const results = nothing();
    const tried = new Map();
    const begin = [
      { type: "file", file: "t" },
      { type: "reached", file: "t", ids: [1, 2], milliseconds: 1 },
    ];
    read(lines(...begin, { type: "try", file: "t", id: 1 }), results, tried);
    expect([...results.timedOut]).toEqual([1]);
    expect(results.complete).toBe(false);
    read(
      lines({ type: "try", file: "t", id: 2 }, { type: "killed", file: "t", id: 2, by: "x" }, { type: "done" }),
      results,
      tried,
    );
    expect([...results.killed]).toEqual([[2, "x"]]);
    expect(results.complete).toBe(true);
  });

  test("does not blame a mutant when the time was used up", () => {
    const results = nothing();
    read(lines({ type: "try", file: "t", id: 1 }), results, new Map(), true);
    expect(results.timedOut.size).toBe(0);
  });

  test("leaves out a file that stops the process without a mutant", () => {
    const results = nothing();
    read(lines({ type: "file", file: "t" }), results, new Map());
    expect([...results.unusable.keys()]).toEqual(["t"]);
  });
});

describe("report", () => {
  const share = { ...nothing(), killed: new Map([[1, "t"]]), timedOut: new Set([2]), reached: new Set([1, 2, 3]) };
  const measured = {
    folder: "packages/a",
    population: 4,
    tried: [1, 2, 3, 4].map(mutant),
    shares: [share],
    copy: "/c",
    seconds: 1,
  };

  test("names the survivors and counts the rest", () => {
    expect(report(measured, true).slice(1)).toEqual([
      "a.ts:3: survived: change 3: x",
      "a.ts:4: not covered: change 4: x",
    ]);
    expect(summary([measured])[1]?.trim().split(/ {2,}/)).toEqual([
      "packages/a",
      "4",
      "4",
      "1",
      "1",
      "1",
      "1",
      "50.0 %",
      "exact",
    ]);
  });

  test("fails below a threshold only with enough mutants", () => {
    expect(belowThreshold([measured], 0.9)).toBe(false);
    const tried = Array.from({ length: 60 }, (_, id) => mutant(id));
    expect(belowThreshold([{ ...measured, population: 60, tried }], 0.9)).toBe(true);
    expect(belowThreshold([{ ...measured, population: 60, tried }], 0.02)).toBe(false);
  });
});
