#!/usr/bin/env node
/** `.ci/run`: plans the stages of CI, runs them and says what it left out. How it decides: docs/testing.md. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { recentChanges } from "./changes.mjs";
import { drive } from "./drive.mjs";
import { CUTOFF, order } from "./plan.mjs";
import { record } from "./record.mjs";
import { forecast, summary, testsIn } from "./report.mjs";
import { STAGES } from "./stages.mjs";

const usage = `usage: .ci/run [--dry-run] [--all] [--keep-going] [--record]

  --dry-run     print the plan and run nothing
  --all         run every stage, whatever time it takes
  --keep-going  run the other stages too after one has failed
  --record      write the measured durations to tools/ci/durations.json; runs no two stages at the same time`;

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const durationsFile = join(here, "durations.json");

await main();

async function main() {
  const options = parse();
  if (options.help) return console.log(usage);
  const start = performance.now();
  const elapsed = () => (performance.now() - start) / 1000;
  /** @type {import("./plan.mjs").Durations} */
  const durations = JSON.parse(readFileSync(durationsFile, "utf8"));
  const cold = !kubernetesIsBuilt();
  const changes = recentChanges(root);
  const plan = order(STAGES, changes);
  const how = {
    durations,
    cold,
    all: options.all,
    keepGoing: options["keep-going"],
    alone: options.record,
  };

  console.log(`=== plan for commit ${changes.commit.slice(0, 12)}, ${cold ? "nothing" : "Kubernetes"} built before`);
  console.log(`=== ${changes.touched.length} paths touched by the last ${changes.commits} commits`);
  for (const line of await forecast(plan, how)) console.log(line);
  if (options["dry-run"]) return undefined;

  const cutoff = options.all ? Number.POSITIVE_INFINITY : CUTOFF;
  const outcome = await drive(plan, how, {
    elapsed,
    run: (stages) => Promise.all(stages.map((stage) => attempt(stage, stages.length > 1, cutoff - elapsed()))),
    say: (line) => console.log(line),
  });
  if (options.record) writeFileSync(durationsFile, record(durations, outcome.results, cold));
  const { ok, lines } = summary(STAGES, outcome);
  process.exitCode = ok ? 0 : 1;
  console.log(`=== all stages took ${Math.round(elapsed())} s`);
  for (const line of lines) console.log(line);
}

function parse() {
  const flag = /** @type {const} */ ({ type: "boolean", default: false });
  const options = { "dry-run": flag, all: flag, "keep-going": flag, record: flag, help: flag };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
}

/** Whether an earlier run has left the Kubernetes programs, which take most of the time of a new machine. */
function kubernetesIsBuilt() {
  const args = [join(root, "tools/kubernetes/build.mjs"), "--print"];
  const bin = spawnSync(process.execPath, args, { encoding: "utf8" }).stdout.trim();
  return bin !== "" && existsSync(join(bin, "kube-apiserver"));
}

/**
 * Runs a stage once. Its output goes to the log as it comes or, with another stage next to it, as a whole at the end.
 * @param {import("./stages.mjs").Stage} stage
 * @param {boolean} together
 * @param {number} secondsLeft
 * @returns {Promise<import("./drive.mjs").Attempt>}
 */
function attempt({ name, command }, together, secondsLeft) {
  const start = performance.now();
  console.log(`=== ${name}${together ? " (side by side)" : ""}: ${command}`);
  const [program = "", ...args] = command.split(" ");
  // A process group of its own, so that what the stage started can be terminated along with it.
  const child = spawn(program, args, { cwd: root, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  /** @type {Buffer[]} */
  const output = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (/** @type {Buffer} */ chunk) => {
      output.push(chunk);
      if (!together) process.stdout.write(chunk);
    });
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  const interrupt = () => {
    kill();
    process.exit(130);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, interrupt);
  const timer = Number.isFinite(secondsLeft)
    ? setTimeout(() => {
        console.log(`=== ${name} is terminated: CI has no time left`);
        kill();
      }, Math.max(secondsLeft, 0) * 1000)
    : undefined;
  return new Promise((resolve) => {
    child.once("error", (error) => {
      console.log(`=== ${name}: ${error.message}`);
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, interrupt);
      const text = Buffer.concat(output).toString();
      if (together) process.stdout.write(`=== output of ${name}\n${text}`);
      const seconds = (performance.now() - start) / 1000;
      const tests = testsIn(stripVTControlCharacters(text));
      console.log(`=== ${name} took ${Math.round(seconds)} s`);
      // A suite that finds no test of its own has not passed, whatever its exit code.
      resolve({ ok: code === 0 && tests?.passed !== 0, seconds, tests });
    });
  });
}
