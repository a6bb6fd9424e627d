/**
 * Runs a plan. The clock, the way to run a stage and the log are passed in, so that the forecast, the tests and CI share this code.
 *
 * @typedef {import("./plan.mjs").Planned} Planned
 * @typedef {import("./plan.mjs").Durations} Durations
 * @typedef {import("./stages.mjs").Stage} Stage
 * @typedef {{ passed: number; failed: number; skipped: number }} Tests
 * @typedef {{ ok: boolean; seconds: number; tests?: Tests | undefined }} Attempt
 * @typedef {{ stage: Stage; attempts: Attempt[]; alone: boolean }} Result
 * @typedef {{ name: string; why: string }} LeftOut
 * @typedef {{ results: Result[]; leftOut: LeftOut[] }} Outcome
 * @typedef {object} Options
 * @property {Durations} durations
 * @property {boolean} cold
 * @property {boolean} [all] Ignores the budget.
 * @property {boolean} [keepGoing] Continues after a stage that failed.
 * @property {boolean} [alone] Never runs two stages at the same time.
 * @typedef {object} World
 * @property {() => number} elapsed Seconds since the start.
 * @property {(stages: readonly Stage[]) => Promise<Attempt[]>} run Runs stages at the same time, one attempt each.
 * @property {(line: string) => void} say
 */
import { speed, tooLate } from "./plan.mjs";

/**
 * @param {{ always: readonly Planned[]; others: readonly Planned[] }} plan
 * @param {Options} options
 * @param {World} world
 * @returns {Promise<Outcome>}
 */
export async function drive({ always, others }, options, world) {
  /** @type {Result[]} */
  const results = [];
  /** @type {LeftOut[]} */
  const leftOut = [];
  const waiting = [...always, ...others];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (options.keepGoing !== true && results.some((result) => !passed(result))) {
      leftOut.push({ name: next.stage.name, why: "a stage before it failed" });
      continue;
    }
    const late = options.all === true || next.stage.always === true ? undefined : tooLate([next.stage], moment());
    if (late !== undefined) {
      leftOut.push({ name: next.stage.name, why: late });
      continue;
    }
    results.push(...(await runBatch(withCompanion(next))));
  }
  return { results, leftOut };

  function moment() {
    const { durations, cold } = options;
    return { elapsed: world.elapsed(), speed: speed(measured(results), durations), cold, durations };
  }

  /**
   * The stage, and one that may run next to it if there is time for both.
   * @param {Planned} first
   */
  function withCompanion({ stage }) {
    if (options.alone === true || stage.sideBySide === undefined) return [stage];
    const at = waiting.findIndex((other) => other.stage.sideBySide === stage.sideBySide);
    const companion = waiting[at]?.stage;
    if (companion === undefined) return [stage];
    if (options.all !== true && tooLate([stage, companion], moment()) !== undefined) return [stage];
    waiting.splice(at, 1);
    return [stage, companion];
  }

  /**
   * @param {readonly Stage[]} batch
   * @returns {Promise<Result[]>}
   */
  async function runBatch(batch) {
    const attempts = await world.run(batch);
    /** @type {Result[]} */
    const done = [];
    for (const [index, stage] of batch.entries()) {
      const first = attempts[index] ?? { ok: false, seconds: 0 };
      const result = { stage, attempts: [first], alone: batch.length === 1 };
      if (!first.ok && stage.once !== true) {
        world.say(`=== ${stage.name} failed and is repeated once`);
        result.attempts.push(...(await world.run([stage])));
      }
      done.push(result);
    }
    return done;
  }
}

/**
 * Whether the last attempt of a stage succeeded.
 * @param {Result} result
 */
export function passed({ attempts }) {
  return attempts.at(-1)?.ok === true;
}

/**
 * Durations that say something about the machine: stages that ran alone and passed at the first attempt.
 * @param {readonly Result[]} results
 */
export function measured(results) {
  return results.flatMap(({ stage, attempts: [first, second], alone }) =>
    alone && first?.ok === true && second === undefined ? { name: stage.name, seconds: first.seconds } : [],
  );
}
