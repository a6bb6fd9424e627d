/** Runs a plan in a process of its own, and starts another one where a mutant has stopped it. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Without a result for so long a process is stuck. */
const STUCK_MS = 180_000;
const POLL_MS = 500;
const ENDLESS = /endless loop|timed out in \d+ms/;

/**
 * @typedef {object} Results
 * @property {Map<number, string>} killed By which test.
 * @property {Set<number>} timedOut
 * @property {Set<number>} reached
 * @property {Map<string, string>} unusable Test files that fail without a mutant, and why.
 * @property {Map<string, number>} durations Of test files, in milliseconds.
 * @property {boolean} complete
 */

/**
 * @param {string} copy The folder of the instrumented copy.
 * @param {{ name: string; mutants: number; pending: number[]; tests: string[]; deadline: number }} work
 * @returns {Promise<Results>}
 */
export async function drive(copy, work) {
  /** @type {Results} */
  const results = {
    killed: new Map(),
    timedOut: new Set(),
    reached: new Set(),
    unusable: new Map(),
    durations: new Map(),
    complete: false,
  };
  /** @type {Map<string, Set<number>>} */
  const tried = new Map();
  const log = join(copy, `${work.name}.log`);
  writeFileSync(log, "");
  for (let attempt = 0; !results.complete && performance.now() < work.deadline; attempt++) {
    if (attempt > work.pending.length + 5) throw new Error(`Vitest keeps failing: see ${log}.out`);
    const decided = new Set([...results.killed.keys(), ...results.timedOut]);
    const plan = {
      mutants: work.mutants,
      pending: work.pending.filter((id) => !decided.has(id)),
      tests: work.tests.filter((file) => !results.unusable.has(file)),
      tried: Object.fromEntries([...tried].map(([file, ids]) => [file, [...ids]])),
      log,
    };
    const path = join(copy, `${work.name}.json`);
    writeFileSync(path, JSON.stringify(plan));
    const from = readFileSync(log, "utf8").length;
    const late = await run(copy, path, log, work.deadline);
    read(readFileSync(log, "utf8").slice(from), results, tried, late);
  }
  return results;
}

/** @type {Set<number | undefined>} */
const running = new Set();

/** Nothing keeps running when this process is stopped. */
process.once("exit", () => {
  for (const pid of running) stop(pid);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

/** Kills Vitest and its worker, which are a group of processes. @param {number | undefined} pid */
function stop(pid) {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has exited already.
  }
}

/** @param {string} copy @param {string} plan @param {string} log @param {number} deadline @returns {Promise<boolean>} Whether it was late. */
function run(copy, plan, log, deadline) {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", "tools/mutants/vitest.config.mjs"];
  const child = spawn("nice", ["-n", "15", process.execPath, ...args], {
    cwd: copy,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CAPSTAN_MUTANTS_PLAN: plan, CI: "1", NO_COLOR: "1" },
  });
  running.add(child.pid);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output = (output + chunk).slice(-20_000);
    });
  return new Promise((resolve) => {
    let length = 0;
    let since = performance.now();
    const watch = setInterval(() => {
      const now = performance.now();
      const size = existsSync(log) ? readFileSync(log).length : 0;
      if (size !== length) since = now;
      length = size;
      // The process group: Vitest and its worker.
      if (now - since > STUCK_MS || now > deadline) stop(child.pid);
    }, POLL_MS);
    child.once("close", () => {
      clearInterval(watch);
      running.delete(child.pid);
      writeFileSync(`${log}.out`, output);
      resolve(performance.now() > deadline);
    });
  });
}

/**
 * @param {string} text
 * @param {Results} results
 * @param {Map<string, Set<number>>} tried
 * @param {boolean} late The process was stopped since the time was used up, not since it was stuck.
 */
export function read(text, results, tried, late = false) {
  /** @type {{ file: string; id: number } | undefined} */
  let open;
  let file = "";
  for (const line of text.split("\n")) {
    if (!line.endsWith("}")) continue;
    const entry = JSON.parse(line);
    if (entry.type === "file") file = entry.file;
    if (entry.type === "done") results.complete = true;
    if (entry.type === "unusable") results.unusable.set(entry.file, entry.why);
    if (entry.type === "reached") {
      for (const id of entry.ids) results.reached.add(id);
      results.durations.set(entry.file, entry.milliseconds);
      file = "";
    }
    if (entry.type === "try") open = entry;
    if (entry.type === "killed" || entry.type === "survived") {
      open = undefined;
      if (entry.type === "killed" && ENDLESS.test(entry.by)) results.timedOut.add(entry.id);
      else if (entry.type === "killed") results.killed.set(entry.id, entry.by);
      else results.killed.delete(entry.id);
      tried.set(entry.file, (tried.get(entry.file) ?? new Set()).add(entry.id));
    }
  }
  if (results.complete || late) return;
  if (open !== undefined) results.timedOut.add(open.id);
  else if (file !== "") results.unusable.set(file, "stops the process");
}
