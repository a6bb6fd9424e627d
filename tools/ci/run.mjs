#!/usr/bin/env node
/** `.ci/run`: plans the stages of CI, runs them and says what it left out. How it decides: docs/testing.md. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { attempt, terminateAll } from "./attempt.mjs";
import { recentChanges } from "./changes.mjs";
import { drive } from "./drive.mjs";
import { CUTOFF, order } from "./plan.mjs";
import { record } from "./record.mjs";
import { forecast, summary } from "./report.mjs";
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
  const stages = options.all ? STAGES : STAGES.filter(({ long }) => long !== true);
  const plan = order(stages, changes, durations);
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

  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => {
      terminateAll();
      process.exit(130);
    });
  const cutoff = options.all ? Number.POSITIVE_INFINITY : CUTOFF;
  const outcome = await drive(plan, how, {
    elapsed,
    run: (stages) => runTogether(stages, cutoff - elapsed()),
    say: (line) => console.log(line),
  });
  if (options.record) writeFileSync(durationsFile, record(durations, outcome.results, cold));
  const { ok, lines } = summary(stages, outcome);
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
 * Runs stages at the same time. The output of one goes to the log as it comes, that of several one after the other at the end.
 * @param {readonly import("./stages.mjs").Stage[]} stages
 * @param {number} secondsLeft
 */
function runTogether(stages, secondsLeft) {
  return Promise.all(
    stages.map(async (stage) => {
      const together = stages.length > 1;
      let kept = "";
      console.log(`=== ${stage.name}${together ? " (side by side)" : ""}: ${stage.command}`);
      const write = (/** @type {string} */ text) => {
        if (together) kept += text;
        else process.stdout.write(text);
      };
      const result = await attempt(stage, { cwd: root, secondsLeft, write });
      if (together) console.log(`=== output of ${stage.name}\n${kept}`);
      console.log(`=== ${stage.name} took ${Math.round(result.seconds)} s`);
      return result;
    }),
  );
}
