/** What CI prints before and after the stages, and whether the run as a whole passed. */
import { drive, passed } from "./drive.mjs";
import { expected } from "./plan.mjs";

/**
 * @typedef {import("./drive.mjs").Outcome} Outcome
 * @typedef {import("./drive.mjs").Options} Options
 * @typedef {import("./drive.mjs").Tests} Tests
 * @typedef {import("./plan.mjs").Planned} Planned
 * @typedef {import("./stages.mjs").Stage} Stage
 */

/**
 * The plan in its order with what is expected of it, if every stage takes as long as recorded.
 * @param {{ always: readonly Planned[]; others: readonly Planned[] }} plan
 * @param {Options} options
 * @returns {Promise<string[]>}
 */
export async function forecast(plan, options) {
  let elapsed = 0;
  /** @type {Map<string, string>} */
  const starts = new Map();
  const { leftOut } = await drive(plan, options, {
    elapsed: () => elapsed,
    run: (stages) => {
      const attempts = stages.map(({ name }) => ({
        ok: true,
        seconds: expected(options.durations, name, options.cold),
      }));
      for (const { name } of stages)
        starts.set(name, `minute ${Math.floor(elapsed / 60)}${stages.length > 1 ? ", side by side" : ""}`);
      elapsed += attempts.reduce((total, { seconds }) => total + seconds, 0);
      return Promise.resolve(attempts);
    },
    say: () => undefined,
  });
  const lines = [...plan.always, ...plan.others].map(({ stage: { name }, why }) => {
    const seconds = expected(options.durations, name, options.cold);
    const when = starts.get(name) ?? `left out: ${leftOut.find((each) => each.name === name)?.why ?? ""}`;
    return `  ${name} (${why}; ${seconds} s; ${when})`;
  });
  return [
    ...lines,
    `=== planned: ${starts.size} stages in ${Math.ceil(elapsed / 60)} minutes, ${leftOut.length} left out`,
  ];
}

/**
 * The end of the log. The last line counts tests, and one for each stage without tests of its own.
 * @param {readonly Stage[]} stages
 * @param {Outcome} outcome
 * @returns {{ ok: boolean; lines: string[] }}
 */
export function summary(stages, { results, leftOut }) {
  const ran = new Set(results.map(({ stage }) => stage.name));
  const failures = results.filter((result) => !passed(result)).map(({ stage }) => stage.name);
  // A plan that runs nothing must never look like success, whatever made it so.
  const missing = stages.filter(({ name, always }) => always === true && !ran.has(name)).map(({ name }) => name);
  const others = stages.filter(({ always }) => always !== true);
  if (missing.length === 0 && others.length > 0 && !others.some(({ name }) => ran.has(name)))
    missing.push("any stage beyond those of every landing");
  const first = results.filter(({ attempts }) => attempts[0]?.ok !== true);
  const tests = results.map(({ attempts }) => counted(attempts.at(-1)));
  const total = (/** @type {keyof Tests} */ key) => tests.reduce((sum, each) => sum + each[key], 0);
  const failed = total("failed") + missing.length;
  return {
    ok: failures.length === 0 && missing.length === 0 && failed === 0 && total("passed") > 0,
    lines: [
      ...(first.length === 0
        ? ["=== no stage needed a second attempt"]
        : first.map(({ stage }) => `=== first attempt failed: ${stage.name}`)),
      ...leftOut.map(({ name, why }) => `=== left out: ${name} (${why})`),
      ...failures.map((name) => `=== FAILED: ${name}`),
      ...missing.map((name) => `=== FAILED: did not run ${name}`),
      `=== ${results.length - failures.length} stages passed, ${failures.length} failed, ${leftOut.length} left out, ${total("skipped")} tests skipped`,
      `${total("passed")} passed, ${failed} failed`,
    ],
  };
}

/**
 * @param {import("./drive.mjs").Attempt | undefined} attempt
 * @returns {Tests}
 */
function counted(attempt) {
  const tests = attempt?.tests ?? { passed: 0, failed: 0, skipped: 0 };
  if (attempt?.ok === true) return attempt.tests === undefined ? { ...tests, passed: 1 } : tests;
  return { ...tests, failed: Math.max(tests.failed, 1) };
}

/**
 * The counts in the last line of the form `N passed, N failed[, N skipped]`.
 * @param {string} output
 * @returns {Tests | undefined}
 */
export function testsIn(output) {
  const last = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1);
  if (last === undefined) return undefined;
  return { passed: Number(last[1]), failed: Number(last[2]), skipped: Number(last[3] ?? 0) };
}
