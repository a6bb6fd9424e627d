#!/usr/bin/env node
/** `npm run mutants`: changes the sources in many small ways and counts which changes no test notices. See docs/testing.md. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { recentChanges } from "../ci/changes.mjs";
import { copyTree } from "./copy.mjs";
import { drive } from "./drive.mjs";
import { instrumented, mutantsOf } from "./instrument.mjs";
import { belowThreshold, report, summary } from "./report.mjs";
import { sample } from "./sample.mjs";
import { changedSince, groupBy, isSource, packageOf, sourcesOf, testsOf } from "./targets.mjs";

const usage = `usage: npm run mutants -- PACKAGE|FILE... [--sample N] [--seed S] [--tests PATH]... [--workers N] [--quiet]
       npm run mutants -- --changed BASE [--minutes M] [--threshold PERCENT]

  PACKAGE|FILE   for example packages/apimachinery, or a file or folder of one
  --sample N     try N random mutants of each package instead of all
  --seed S       draw another sample (a number; the same seed draws the same sample)
  --tests PATH   let these tests, too, catch mutants; the tests of the package itself always do
  --near         only tests of the named folders, not of the whole package: faster, and a lower bound
  --workers N    processes to use (1)
  --quiet        leave out the list of survivors
  --changed BASE the sources that differ from a commit; "landing" stands for what the last landing touched
  --minutes M    with --changed: try random mutants until so much time has passed (5)
  --threshold P  with --changed: fail when the score is certainly below P % (60)`;

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Mutants of each package that are tried when time is limited, and the time below which none is begun. */
const BATCH = 40;
const LEAST_SECONDS = 20;

await main();

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: "string" },
      seed: { type: "string", default: "1" },
      tests: { type: "string", multiple: true, default: [] },
      near: { type: "boolean", default: false },
      workers: { type: "string", default: "1" },
      quiet: { type: "boolean", default: false },
      changed: { type: "string" },
      minutes: { type: "string", default: "5" },
      threshold: { type: "string", default: "60" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help || (positionals.length === 0 && values.changed === undefined)) return console.log(usage);
  const how = { seed: Number(values.seed), workers: Number(values.workers) };
  if (values.changed !== undefined) return changed(values.changed, { ...values, ...how });
  const results = [];
  for (const [folder, sources] of targets(positionals, values.near)) {
    const tests = [...new Set([folder, ...values.tests].flatMap((path) => testsOf(root, path)))];
    const size = values.sample === undefined ? Number.POSITIVE_INFINITY : Number(values.sample);
    const result = await measure(folder, sources, tests, { ...how, size });
    results.push(result);
    console.log(report(result, !values.quiet).join("\n"));
  }
  console.log(summary(results).join("\n"));
  return undefined;
}

/**
 * The sources to change, by the folder whose tests are to notice: the package, or the named folder itself.
 * @param {readonly string[]} paths
 * @param {boolean} near
 * @returns {Map<string, string[]>}
 */
function targets(paths, near) {
  if (near) return new Map(paths.map((path) => [path, sourcesOf(root, path)]));
  const files = [...new Set(paths.flatMap((path) => sourcesOf(root, path)))];
  return groupBy(files, (file) => packageOf(file) ?? "");
}

/**
 * Packages in random order, a batch of each, until the time is used up.
 * @param {string} base
 * @param {{ seed: number; workers: number; tests: string[]; minutes: string; threshold: string; quiet: boolean }} how
 */
async function changed(base, how) {
  const landing = base === "landing" ? recentChanges(root) : undefined;
  const touched = landing === undefined ? changedSince(root, base) : landing.touched.filter(isSource);
  const sources = touched.filter((file) => existsSync(join(root, file)));
  if (sources.length === 0) return console.log("no source of a package has changed");
  // Each landing tries other mutants, and the same ones when it is repeated.
  const seed = landing === undefined ? how.seed : Number.parseInt(landing.commit.slice(0, 8), 16);
  const packages = [...groupBy(sources, (file) => packageOf(file) ?? "")].map(([digest, files]) => ({ digest, files }));
  const end = performance.now() + Number(how.minutes) * 60_000;
  const results = [];
  for (const { digest: folder, files } of sample(packages, packages.length, seed)) {
    const seconds = (end - performance.now()) / 1000;
    if (seconds < LEAST_SECONDS) break;
    const tests = [...new Set([folder, ...how.tests].flatMap((path) => testsOf(root, path)))];
    const result = await measure(folder, files, tests, { ...how, seed, size: BATCH, seconds });
    results.push(result);
    console.log(report(result, !how.quiet).join("\n"));
  }
  console.log(summary(results).join("\n"));
  if (belowThreshold(results, Number(how.threshold) / 100)) {
    console.error(`fewer than ${how.threshold} % of the mutants are caught: see docs/testing.md`);
    process.exitCode = 1;
  }
  return undefined;
}

/**
 * @param {string} folder
 * @param {string[]} sources
 * @param {string[]} tests
 * @param {{ size: number; seed: number; workers: number; seconds?: number }} how
 * @returns {Promise<import("./report.mjs").Measured>}
 */
async function measure(folder, sources, tests, how) {
  const start = performance.now();
  const all = sources.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), "utf8")));
  const drawn = sample(all, how.size, how.seed).map((mutant, id) => ({ ...mutant, id }));
  const copy = copyTree(root);
  const remove = () => rmSync(copy, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    for (const [file, mutants] of groupBy(drawn, ({ file }) => file))
      writeFileSync(join(copy, file), instrumented(readFileSync(join(root, file), "utf8"), mutants));
    const shares = await batchOf(copy, drawn.length, tests, how);
    // When the time was used up only mutants that were caught early are known: that says nothing.
    const tried = shares.every(({ complete }) => complete) ? drawn : [];
    return { folder, population: all.length, tried, shares, copy, seconds: (performance.now() - start) / 1000 };
  } finally {
    remove();
    process.off("exit", remove);
  }
}

/**
 * @param {string} copy
 * @param {number} mutants
 * @param {string[]} tests
 * @param {{ workers: number; seconds?: number }} how
 */
function batchOf(copy, mutants, tests, { workers, seconds }) {
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1000;
  const ids = Array.from({ length: mutants }, (_, id) => id);
  return Promise.all(
    Array.from({ length: workers }, (_, worker) =>
      drive(copy, {
        name: `worker-${worker}`,
        mutants,
        pending: ids.filter((id) => id % workers === worker),
        tests: tests.map((file) => join(copy, file)),
        deadline,
      }),
    ),
  );
}
