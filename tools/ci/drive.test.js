import { describe, expect, test } from "vitest";
import { drive } from "./drive.mjs";
import { record } from "./record.mjs";
import { forecast, summary, testsIn } from "./report.mjs";

/**
 * @typedef {import("./stages.mjs").Stage} Stage
 * @typedef {import("./drive.mjs").Attempt} Attempt
 */

/** @type {Stage[]} */
const stages = [
  { name: "install", command: "true", always: true, once: true },
  { name: "unit", command: "true", always: true },
  { name: "left", command: "true", sideBySide: "pair" },
  { name: "middle", command: "true" },
  { name: "right", command: "true", sideBySide: "pair" },
];
const durations = {
  install: { warm: 10, cold: 60 },
  unit: { warm: 200 },
  left: { warm: 300 },
  middle: { warm: 300 },
  right: { warm: 300 },
};
const plan = {
  always: stages.slice(0, 2).map((stage) => ({ stage, why: "always" })),
  others: stages.slice(2).map((stage) => ({ stage, why: "rotation" })),
};

/**
 * Runs the plan. Attempts at a stage fail as often as `failures` says; each takes its recorded duration.
 * @param {Record<string, number>} [failures]
 * @param {Partial<import("./drive.mjs").Options> & { start?: number }} [options]
 */
async function run(failures = {}, { start = 0, ...options } = {}) {
  const remaining = new Map(Object.entries(failures));
  /** @type {string[]} */
  const log = [];
  let elapsed = start;
  const outcome = await drive(
    plan,
    { durations, cold: false, ...options },
    {
      elapsed: () => elapsed,
      say: (line) => log.push(line),
      run: async (batch) => {
        log.push(batch.map(({ name }) => name).join(" + "));
        return batch.map(({ name }) => {
          const left = remaining.get(name) ?? 0;
          remaining.set(name, left - 1);
          const seconds = durations[/** @type {keyof typeof durations} */ (name)].warm;
          elapsed += seconds;
          return { ok: left <= 0, seconds, tests: { passed: 7, failed: left > 0 ? 2 : 0, skipped: 1 } };
        });
      },
    },
  );
  return { ...outcome, log, ...summary(stages, outcome) };
}

describe("a run", () => {
  test("runs stages that mostly wait side by side, all others alone", async () => {
    expect((await run()).log).toEqual(["install", "unit", "left + right", "middle"]);
    expect((await run({}, { alone: true })).log).toEqual(["install", "unit", "left", "middle", "right"]);
  });

  test("runs such a stage alone when there is no time for both", async () => {
    const { log, leftOut } = await run({}, { start: 70 * 60 - 210 - 450 + 50 });
    expect(log).toEqual(["install", "unit", "left"]);
    expect(leftOut.map(({ name }) => name)).toEqual(["middle", "right"]);
  });

  test("repeats a stage that failed, alone and once", async () => {
    const { log, ok, lines } = await run({ right: 1, unit: 1 });
    expect(log).toEqual([
      "install",
      "unit",
      "=== unit failed and is repeated once",
      "unit",
      "left + right",
      "=== right failed and is repeated once",
      "right",
      "middle",
    ]);
    expect(ok).toBe(true);
    expect(lines.slice(0, 2)).toEqual(["=== first attempt failed: unit", "=== first attempt failed: right"]);
    expect(lines.at(-1)).toBe("35 passed, 0 failed");
  });

  test("stops after a second failure and says what failed and what did not run", async () => {
    const { log, ok, lines } = await run({ unit: 2 });
    expect(log).toEqual(["install", "unit", "=== unit failed and is repeated once", "unit"]);
    expect(ok).toBe(false);
    expect(lines).toEqual([
      "=== first attempt failed: unit",
      "=== left out: left (a stage before it failed)",
      "=== left out: middle (a stage before it failed)",
      "=== left out: right (a stage before it failed)",
      "=== FAILED: unit",
      "=== FAILED: did not run any stage beyond those of every landing",
      "=== 1 stages passed, 1 failed, 3 left out, 2 tests skipped",
      "14 passed, 3 failed",
    ]);
  });

  test("does not repeat a stage whose failure is final", async () => {
    const { log, ok, lines } = await run({ install: 1 });
    expect(log).toEqual(["install"]);
    expect(ok).toBe(false);
    expect(lines).toContain("=== FAILED: did not run unit");
  });

  test("continues after a failure when asked to, and fails all the same", async () => {
    const { log, ok, lines } = await run({ unit: 2, middle: 2 }, { keepGoing: true });
    expect(log).toContain("left + right");
    expect(ok).toBe(false);
    expect(lines.filter((line) => line.startsWith("=== FAILED"))).toEqual(["=== FAILED: unit", "=== FAILED: middle"]);
  });

  test("runs everything when the budget does not count", async () => {
    expect((await run({}, { start: 100_000, all: true })).leftOut).toEqual([]);
  });
});

describe("a summary", () => {
  /** @type {Attempt} */
  const good = { ok: true, seconds: 1 };
  const results = stages.map((stage) => ({ stage, attempts: [good], alone: true }));

  test("counts a stage without tests of its own as one", () => {
    expect(summary(stages, { results, leftOut: [] })).toMatchObject({ ok: true });
    expect(summary(stages, { results, leftOut: [] }).lines.at(-1)).toBe("5 passed, 0 failed");
  });

  test("is a failure when nothing ran, or nothing but the stages of every landing", () => {
    const leftOut = stages.map(({ name }) => ({ name, why: "no time" }));
    expect(summary(stages, { results: [], leftOut })).toMatchObject({ ok: false });
    expect(summary(stages, { results: [], leftOut }).lines.at(-1)).toBe("0 passed, 2 failed");
    expect(summary(stages, { results: results.slice(0, 2), leftOut }).lines.at(-1)).toBe("2 passed, 1 failed");
    expect(summary(stages, { results: results.slice(0, 2), leftOut })).toMatchObject({ ok: false });
    expect(summary([], { results: [], leftOut: [] })).toMatchObject({ ok: false });
  });

  test("is a failure when a stage of every landing is missing", () => {
    expect(summary(stages, { results: results.slice(1), leftOut: [] })).toMatchObject({ ok: false });
  });

  test("is a failure when a stage that exits with 0 reports failed tests", () => {
    const odd = { ...good, tests: { passed: 3, failed: 1, skipped: 0 } };
    const [first, ...rest] = results;
    expect(first).toBeDefined();
    const outcome = { results: [...rest, { stage: stages[0] ?? fail(), attempts: [odd], alone: true }], leftOut: [] };
    expect(summary(stages, outcome)).toMatchObject({ ok: false });
  });

  test("reads the last count in the output of a stage", () => {
    expect(testsIn("1 passed, 0 failed\nx\n40 passed, 2 failed, 3 skipped\nbye")).toEqual({
      passed: 40,
      failed: 2,
      skipped: 3,
    });
    expect(testsIn("all 4 passed, 0 failed today")).toBeUndefined();
  });
});

test("a forecast lists every stage, its reason, and what will be left out", async () => {
  const slow = { ...durations, unit: { warm: 3300 } };
  const lines = await forecast(plan, { durations: slow, cold: true });
  expect(lines).toEqual([
    "  install (always; 60 s; minute 0)",
    "  unit (always; 3300 s; minute 1)",
    "  left (rotation; 300 s; minute 56)",
    "  middle (rotation; 300 s; minute 61)",
    "  right (rotation; 300 s; left out: takes about 300 s, 240 s are left of the budget)",
    "=== planned: 4 stages in 66 minutes, 1 left out",
  ]);
});

test("records the durations of stages that ran alone and passed at once", () => {
  const at = (/** @type {number} */ index) => stages[index] ?? fail();
  const results = [
    { stage: at(0), attempts: [{ ok: true, seconds: 75.4 }], alone: true },
    { stage: at(1), attempts: [{ ok: true, seconds: 0.2 }], alone: true },
    { stage: at(2), attempts: [{ ok: true, seconds: 9 }], alone: false },
    {
      stage: at(3),
      attempts: [
        { ok: false, seconds: 9 },
        { ok: true, seconds: 9 },
      ],
      alone: true,
    },
  ];
  expect(JSON.parse(record(durations, results, false))).toEqual({
    ...durations,
    install: { warm: 75, cold: 60 },
    unit: { warm: 1 },
  });
  expect(JSON.parse(record(durations, results, true)).install).toEqual({ warm: 10, cold: 75 });
});

/** @returns {never} */
function fail() {
  throw new Error("no such stage");
}
