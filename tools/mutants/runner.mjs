/**
 * Runs in a worker of Vitest in place of its runner. The one test that Vitest knows of starts it; it then runs the test files of a plan again
 * and again in the same process, first without a mutant to see which test reaches which mutant, then with each mutant the tests that reach it.
 *
 * @typedef {object} Plan What one process does.
 * @property {number} mutants Ids are below this number.
 * @property {number[]} pending Ids to try.
 * @property {string[]} tests Absolute paths of test files.
 * @property {Record<string, number[]>} tried Ids that an earlier process of the same plan has tried, by test file.
 * @property {string} log Where results are appended.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { startTests } from "@vitest/runner";
import { VitestTestRunner } from "vitest/runners";

/** A mutant that makes so many more steps than the program needs is in an endless loop. */
const STEPS = 20;
const LEAST_STEPS = 2_000_000;

/** A clean run may be slow on a busy machine; with a mutant a test may take so many times longer, and this long in any case. */
const PATIENCE_MS = 120_000;
const SLOWER = 10;
const LEAST_MS = 5_000;

const state = { active: -1, steps: 0, limit: Number.POSITIVE_INFINITY, hits: new Uint8Array(0) };

/** Of instrumented sources: whether this mutant is the one to try. @param {number} id */
Reflect.set(globalThis, "__mutant", (/** @type {number} */ id) => {
  state.hits[id] = 1;
  if (++state.steps > state.limit) throw new Error("the mutant is in an endless loop");
  return id === state.active;
});

/** Runs one file without reporting it to Vitest. */
class QuietRunner extends VitestTestRunner {
  /** @type {ReadonlySet<string> | undefined} Names of the tests to run; all of them without. */
  only;
  recording = false;
  /** @type {Map<string, Uint8Array>} */
  reached = new Map();
  failed = "";
  collected = () => {};

  /** @param {string} filepath @param {"collect" | "setup"} source */
  importFile(filepath, source) {
    if (source === "collect") {
      const { evaluatedModules } = /** @type {any} */ (this).workerState;
      for (const node of evaluatedModules.fileToModulesMap.get(filepath) ?? []) evaluatedModules.invalidateModule(node);
    }
    return super.importFile(filepath, source);
  }
  onCollected(/** @type {any[]} */ files) {
    this.collected();
    for (const file of files) if (file.result?.state === "fail") this.failed ||= `${reason(file)} (on import)`;
  }
  async onBeforeRunTask(/** @type {any} */ test) {
    if (this.failed !== "" || (this.only !== undefined && !this.only.has(nameOf(test)))) test.mode = "skip";
    return super.onBeforeRunTask(test);
  }
  onBeforeTryTask(/** @type {any} */ test) {
    if (this.recording) this.reached.set(nameOf(test), state.hits);
    super.onBeforeTryTask(test);
  }
  onAfterRunTask(/** @type {any} */ test) {
    super.onAfterRunTask(test);
    if (this.recording) {
      this.reached.set(nameOf(test), state.hits);
      state.hits = new Uint8Array(state.hits.length);
    }
    if (test.result?.state === "fail") this.failed ||= `${test.name}: ${reason(test)}`;
  }
  async onAfterRunSuite(/** @type {any} */ suite) {
    if (suite.result?.state === "fail") this.failed ||= `${suite.name}: ${reason(suite)}`;
    // Snapshots that a skipped test would have used are no failure.
    this.workerState.current = suite.suite ?? suite.file;
  }
  onTaskUpdate() {}
}

export default class MutantRunner extends VitestTestRunner {
  async onCollected() {
    const path = process.env["CAPSTAN_MUTANTS_PLAN"];
    if (path === undefined) throw new Error("CAPSTAN_MUTANTS_PLAN is not set");
    /** @type {Plan} */
    const plan = JSON.parse(readFileSync(path, "utf8"));
    state.hits = new Uint8Array(plan.mutants);
    const pending = new Set(plan.pending);
    for (const file of plan.tests) await this.#file(file, plan, pending);
    record(plan, { type: "done" });
  }

  #timeout = PATIENCE_MS;

  /** @param {string} file @param {Plan} plan @param {Set<number>} pending */
  async #file(file, plan, pending) {
    const tried = new Set(plan.tried[file] ?? []);
    if (![...pending].some((id) => !tried.has(id))) return;
    record(plan, { type: "file", file });
    const clean = await this.#clean(file);
    if (clean.failed !== "") return record(plan, { type: "unusable", file, why: clean.failed });
    const { imported, byTest, steps, milliseconds } = clean;
    state.limit = Math.max(LEAST_STEPS, steps * STEPS);
    this.#timeout = Math.max(LEAST_MS, milliseconds * SLOWER);
    const reached = [...pending].filter((id) => imported[id] === 1 || byTest.some(([, hits]) => hits[id] === 1));
    record(plan, { type: "reached", file, ids: reached, milliseconds });

    /** @type {number[]} */
    const afresh = [];
    /** @type {number[]} */
    const killed = [];
    for (const id of reached) {
      if (tried.has(id)) continue;
      const tests = byTest.flatMap(([name, hits]) => (hits[id] === 1 ? [name] : []));
      if (tests.length === 0) {
        afresh.push(id);
        continue;
      }
      record(plan, { type: "try", file, id });
      const run = await this.#run(file, id, new Set(tests));
      if (run.failed !== "") {
        record(plan, { type: "killed", file, id, by: run.failed });
        killed.push(id);
        pending.delete(id);
      } else if (imported[id] === 1 || !run.hit) afresh.push(id);
      else record(plan, { type: "survived", file, id });
    }
    // A mutant may have left something behind in a module that made the next ones fail: those are tried again from scratch.
    if (killed.length > 0 && (await this.#run(file, -1, undefined)).failed !== "") afresh.push(...killed);

    for (const id of afresh) {
      record(plan, { type: "try", file, id });
      this.#forget();
      const { failed } = await this.#run(file, id, undefined);
      record(plan, failed === "" ? { type: "survived", file, id } : { type: "killed", file, id, by: failed });
      if (failed === "") pending.add(id);
      else pending.delete(id);
    }
    state.limit = Number.POSITIVE_INFINITY;
  }

  /** What the tests of a file reach, in freshly loaded modules. @param {string} file */
  async #clean(file) {
    this.#forget();
    this.#timeout = PATIENCE_MS;
    state.active = -1;
    state.steps = 0;
    state.limit = Number.POSITIVE_INFINITY;
    state.hits = new Uint8Array(state.hits.length);
    let imported = state.hits;
    const runner = this.#quiet();
    runner.recording = true;
    runner.collected = () => {
      imported = state.hits;
      state.hits = new Uint8Array(state.hits.length);
    };
    const start = performance.now();
    await startTests([file], runner);
    // What hooks of the file reach after its last test, and what tests leave running.
    const rest = state.hits;
    const byTest = [...runner.reached];
    for (const [, hits] of byTest) for (let id = 0; id < rest.length; id++) if (rest[id] === 1) hits[id] = 1;
    return { failed: runner.failed, imported, byTest, steps: state.steps, milliseconds: performance.now() - start };
  }

  /** @param {string} file @param {number} id @param {ReadonlySet<string> | undefined} only */
  async #run(file, id, only) {
    state.active = id;
    state.steps = 0;
    state.hits = new Uint8Array(state.hits.length);
    const runner = this.#quiet();
    runner.only = only;
    await startTests([file], runner);
    const hit = state.hits[id] === 1;
    state.active = -1;
    return { failed: runner.failed, hit };
  }

  #quiet() {
    const self = /** @type {any} */ (this);
    const runner = new QuietRunner({ ...self.config, testTimeout: this.#timeout, hookTimeout: this.#timeout });
    Object.assign(runner, { moduleRunner: self.moduleRunner, pool: self.pool, _otel: self._otel });
    return runner;
  }

  /** Lets every module be evaluated again on its next import. */
  #forget() {
    const { evaluatedModules } = /** @type {any} */ (this).workerState;
    for (const [path, node] of evaluatedModules.idToModuleMap) {
      if (/\/vitest\/dist\/|@vitest\/dist|\/tools\/mutants\//.test(path)) continue;
      node.promise = undefined;
      node.exports = undefined;
      node.evaluated = false;
      node.importers.clear();
    }
  }
}

/** @param {any} test */
function nameOf(test) {
  const names = [];
  for (let task = test; task !== undefined && task !== test.file; task = task.suite) names.push(task.name);
  return names.join(" < ");
}

/** @param {any} task */
const reason = (task) => String(task.result?.errors?.[0]?.message ?? "failed").slice(0, 200);

/** @param {Plan} plan @param {object} entry */
function record(plan, entry) {
  appendFileSync(plan.log, `${JSON.stringify(entry)}\n`);
}
