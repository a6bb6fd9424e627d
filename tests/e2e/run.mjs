#!/usr/bin/env node
/** `npm run e2e -- NAME...`: builds what the end-to-end tests need, then runs tests/e2e/NAME.test.ts; `all` or no name: all of them. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const names = readdirSync(here).flatMap((file) =>
  file.endsWith(".test.ts") ? [file.slice(0, -".test.ts".length)] : [],
);
const given = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const wanted = given.includes("all") ? [] : given;
const options = process.argv.slice(2).filter((argument) => argument.startsWith("-"));

const unknown = wanted.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`no end-to-end test "${unknown}"; there are: all, ${names.join(", ")}`);
  process.exit(2);
}
if (process.getuid?.() !== 0) {
  console.error(
    "end-to-end tests make network, mount and process namespaces: run them as root (sudo npm run e2e -- NAME)",
  );
  process.exit(2);
}

const build = join(root, "tools/kubernetes/build.mjs");
stage("kubernetes programs", process.execPath, [build]);
// What upgrades start from.
if (wanted.length === 0 || wanted.some((name) => ["hosted", "kcp-rollout"].includes(name)))
  stage("the minor version before", process.execPath, [build, "--version", "v1.36"]);
// Upstream's mover.
if (wanted.length === 0 || wanted.includes("kcp-mixed"))
  stage("clusterctl", process.execPath, [join(root, "tools/cluster-api/build.mjs"), "--only", "clusterctl"]);
stage(`e2e ${wanted.join(" ") || "all"}`, process.execPath, [
  join(root, "node_modules/vitest/vitest.mjs"),
  "run",
  "--config",
  "tests/e2e/vitest.config.mjs",
  ...options,
  ...wanted.map((name) => `tests/e2e/${name}.test.ts`),
]);

/**
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 */
function stage(name, command, args) {
  const start = performance.now();
  console.log(`=== ${name}`);
  const { status, signal } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  console.log(`=== ${name} took ${((performance.now() - start) / 1000).toFixed(1)} s`);
  if (status !== 0) {
    console.error(`${name} failed (${signal ?? `exit code ${status}`})`);
    process.exit(status ?? 1);
  }
}
