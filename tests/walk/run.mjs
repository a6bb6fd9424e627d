#!/usr/bin/env node
/**
 * `npm run walk`: upgrades a cluster with a real node minor version by minor version, from the oldest to the newest one in tools/kubernetes;
 * `npm run walk -- v1.36` starts later. Builds the programs of the versions that are missing (about ten minutes each).
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const build = join(root, "tools/kubernetes/build.mjs");
const minors = readdirSync(join(root, "tools/kubernetes")).filter((name) => /^v1\.\d+$/.test(name));
const [from = minors.toSorted()[0] ?? ""] = process.argv.slice(2);
const walked = minors.toSorted().slice(minors.toSorted().indexOf(from));

if (!minors.includes(from) || walked.length < 2) {
  console.error(`usage: npm run walk -- [MINOR]; the walk may start at ${minors.toSorted().slice(0, -1).join(", ")}`);
  process.exit(2);
}
if (process.getuid?.() !== 0) {
  console.error("the walk makes network, mount and process namespaces: run it as root (sudo npm run walk)");
  process.exit(2);
}

const versions = walked.map((minor) => {
  const printed = spawnSync(process.execPath, [build, "--version", minor, "--print"], { encoding: "utf8" }).stdout;
  return basename(dirname(printed.trim()));
});
run([build, "--version", walked.join(",")]);
run([join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", "tests/walk/vitest.config.mjs"]);

/** @param {string[]} args */
function run(args) {
  const env = { ...process.env, CAPSTAN_WALK: versions.join(",") };
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env });
  if (status !== 0) process.exit(status ?? 1);
}
