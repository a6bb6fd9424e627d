import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { drive } from "./drive.mjs";
import { BUDGET, expected, LATEST, order, speed, tooLate } from "./plan.mjs";
import { STAGES } from "./stages.mjs";

/** @typedef {import("./stages.mjs").Stage} Stage */

/** @type {Stage[]} */
const always = [
  { name: "install", command: "true", always: true, once: true },
  { name: "unit", command: "true", always: true },
  { name: "programs", command: "true", always: true },
];
/** @type {Stage[]} */
const suites = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => ({
  name,
  command: "true",
  paths: [`src/${name}/`],
}));
const stages = [...always, ...suites];
/** More than the budget: on a machine as fast as the recorded one not all suites fit. */
const durations = {
  install: { warm: 20, cold: 60 },
  unit: { warm: 200 },
  programs: { warm: 1, cold: 1000 },
  ...Object.fromEntries(suites.map(({ name }, index) => [name, { warm: 300 + index * 100 }])),
};

/** @type {import("./plan.mjs").Durations} */
const RECORDED = JSON.parse(readFileSync(new URL("durations.json", import.meta.url), "utf8"));

/** @param {number} landing */
const commit = (landing) => createHash("sha1").update(`landing ${landing}`).digest("hex");

/**
 * Runs a plan in virtual time on a machine that takes `ratio` times the recorded durations.
 * @param {{ ratio?: number; cold?: boolean; landing?: number; touched?: string[]; stages?: readonly Stage[];
 *   recorded?: import("./plan.mjs").Durations }} [options]
 */
async function ran(options = {}) {
  const { ratio = 1, cold = false, landing = 0, touched = [], stages: list = stages, recorded = durations } = options;
  let elapsed = 0;
  /** @type {{ name: string; start: number; end: number }[]} */
  const times = [];
  const outcome = await drive(
    order(list, { commit: commit(landing), touched }, recorded),
    { durations: recorded, cold },
    {
      elapsed: () => elapsed,
      run: async (batch) => {
        const start = elapsed;
        const attempts = batch.map(({ name }) => ({ ok: true, seconds: expected(recorded, name, cold) * ratio }));
        elapsed += Math.max(...attempts.map(({ seconds }) => seconds));
        times.push(...batch.map(({ name }) => ({ name, start, end: elapsed })));
        return attempts;
      },
      say: () => undefined,
    },
  );
  return { ...outcome, times, names: times.map(({ name }) => name), elapsed };
}

describe("order", () => {
  test("puts the stages of every landing first, as they are listed", async () => {
    const { names } = await ran({ touched: ["src/a/x.ts"] });
    expect(names.slice(0, 3)).toEqual(["install", "unit", "programs"]);
  });

  test("puts touched stages before the rest, except for the head of the rest", () => {
    const touched = ["README.md", "src/b/x.ts", "src/d/y.ts", "src/g/z.ts"];
    for (let landing = 0; landing < 50; landing++) {
      const { others } = order(stages, { commit: commit(landing), touched }, durations);
      const names = others.map(({ stage }) => stage.name);
      expect([names[0], names[2], names[3]].toSorted()).toEqual(["b", "d", "g"]);
      expect(names.toSorted()).toEqual(suites.map(({ name }) => name));
    }
  });

  test("matches whole prefixes and says which path it was", () => {
    const { others } = order(
      stages,
      { commit: "1", touched: ["src/cc/x.ts", "lib/src/a/x.ts", "src/e/x.ts"] },
      durations,
    );
    expect(others.filter(({ why }) => why !== "rotation")).toEqual([
      { stage: suites.find(({ name }) => name === "e"), why: "touched: src/e/x.ts" },
    ]);
  });

  test("depends on the commit and on nothing else", () => {
    const names = (/** @type {string} */ hash, list = stages) =>
      order(list, { commit: hash, touched: [] }, durations).others.map(({ stage }) => stage.name);
    expect(names("x")).toEqual(names("x", stages.toReversed()));
    expect(new Set(Array.from({ length: 20 }, (_, landing) => names(commit(landing))[0])).size).toBeGreaterThan(4);
  });
});

/** The real stages: how long a stage has to wait for its turn depends on how long the others take. */
describe("rotation", () => {
  const LANDINGS = 200;
  const MOST_BETWEEN = 30;
  const hosted = ["providers/controlplane-hosted/src/controller.ts"];

  test.each([
    { title: "on a slow machine", ratio: 2.5 },
    { title: "on a cold machine", ratio: 1.2, cold: true },
    { title: "on a slow machine while every landing touches the same paths", ratio: 2, touched: hosted },
    { title: "on a cold machine while every landing touches the same paths", ratio: 1.2, cold: true, touched: hosted },
  ])(`runs every stage at least once in ${MOST_BETWEEN} landings $title`, async (machine) => {
    // Those that only --all runs have no turn.
    const turns = STAGES.filter(({ long }) => long !== true);
    const last = new Map(turns.map(({ name }) => [name, -1]));
    let gap = 0;
    let leftOut = 0;
    for (let landing = 0; landing < LANDINGS; landing++) {
      const outcome = await ran({ ...machine, landing, stages: turns, recorded: RECORDED });
      leftOut += outcome.leftOut.length;
      for (const name of outcome.names) last.set(name, landing);
      gap = Math.max(gap, ...[...last.values()].map((before) => landing - before));
    }
    expect(leftOut, "there is no time for all of them").toBeGreaterThan(LANDINGS);
    expect(gap).toBeLessThan(MOST_BETWEEN);
  });
});

describe("budget", () => {
  test("runs everything when there is time, and nothing that would end after it", async () => {
    const short = stages.slice(0, 7);
    expect((await ran({ stages: short })).leftOut).toEqual([]);
    for (let landing = 0; landing < 50; landing++)
      for (const ratio of [0.5, 1, 1.5, 2, 3]) {
        const { times, names, leftOut } = await ran({ landing, ratio });
        for (const { name, start, end } of times) {
          if (always.some((stage) => stage.name === name)) continue;
          expect(end).toBeLessThanOrEqual(BUDGET);
          expect(start + 2 * (end - start)).toBeLessThanOrEqual(LATEST);
        }
        expect([...names, ...leftOut.map(({ name }) => name)].toSorted()).toEqual(
          stages.map(({ name }) => name).toSorted(),
        );
      }
  });

  test("lets a shorter stage run when a longer one before it no longer fits", () => {
    const moment = { elapsed: BUDGET - 450, speed: 1, cold: false, durations };
    expect(tooLate([stage("h")], moment)).toMatch(/takes about 1000 s, 450 s are left of the budget/);
    expect(tooLate([stage("b")], moment)).toMatch(/twice that is more than 750 s are left/);
    expect(tooLate([stage("a")], moment)).toBeUndefined();
  });

  test("runs the stages of every landing even when they alone use up the time", async () => {
    const { names, leftOut } = await ran({ ratio: 30 });
    expect(names).toEqual(["install", "unit", "programs"]);
    expect(leftOut).toHaveLength(suites.length);
  });

  test("counts two stages side by side as one after the other", () => {
    const moment = { elapsed: BUDGET - 650, speed: 1, cold: false, durations };
    expect(tooLate([stage("a")], moment)).toBeUndefined();
    expect(tooLate([stage("a"), stage("b")], moment)).toMatch(/takes about 700 s/);
  });
});

describe("speed", () => {
  test("is the ratio of all measured to all recorded durations", () => {
    expect(speed([], durations)).toBe(1);
    expect(
      speed(
        [
          { name: "unit", seconds: 400 },
          { name: "a", seconds: 350 },
        ],
        durations,
      ),
    ).toBe(1.5);
  });

  test("ignores stages that build or download something the first time", () => {
    const measured = [
      { name: "install", seconds: 90 },
      { name: "programs", seconds: 2000 },
      { name: "unit", seconds: 220 },
    ];
    expect(speed(measured, durations)).toBeCloseTo(1.1);
  });

  test("decides what fits as soon as the machine turns out to be slow", async () => {
    const [fast, slow] = [await ran({ ratio: 1 }), await ran({ ratio: 2 })];
    expect(slow.leftOut.length).toBeGreaterThan(fast.leftOut.length);
  });
});

test("a cold machine is expected to need the time for what is not built", async () => {
  expect(expected(durations, "programs", true)).toBe(1000);
  expect(expected(durations, "unit", true)).toBe(200);
  expect((await ran({ cold: true })).leftOut.length).toBeGreaterThan((await ran()).leftOut.length);
});

test.each([undefined, { warm: 0 }, { warm: -5 }, { warm: Number.NaN }, { warm: 290_000 }])(
  "refuses to plan with the duration %j",
  (duration) => {
    const wrong = /** @type {import("./plan.mjs").Durations} */ (/** @type {unknown} */ ({ x: duration }));
    expect(() => expected(wrong, "x", false)).toThrow('no usable duration for "x"');
  },
);

/** @param {string} name */
function stage(name) {
  const found = stages.find((each) => each.name === name);
  if (found === undefined) throw new Error(name);
  return found;
}
