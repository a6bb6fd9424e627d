#!/usr/bin/env node
/** `npm run conformance [-- PATTERN]`: builds the real programs if they are missing, then compares our server with them. */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

run([
  join(root, "tools/kubernetes/build.mjs"),
  "--only",
  "etcd,kube-apiserver,kube-controller-manager,kubectl,kubeadm",
]);
run([
  join(root, "node_modules/vitest/vitest.mjs"),
  "run",
  "--config",
  "tests/conformance/vitest.config.mjs",
  ...process.argv.slice(2),
]);

/** @param {string[]} args */
function run(args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
