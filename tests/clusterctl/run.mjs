#!/usr/bin/env node
/** `npm run clusterctl`: builds clusterctl if it is missing, then runs it against the embedded API. */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

run([join(root, "tools/cluster-api/build.mjs"), "--only", "clusterctl"]);
run([join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", "tests/clusterctl/vitest.config.mjs"]);

/** @param {string[]} args */
function run(args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
