#!/usr/bin/env node
/** `npm run check`: layers, doc comments, types, format, lint, unused code. Runs all of them and fails if any does. */
import { spawnSync } from "node:child_process";

/** @type {{ name: string; command: string[] }[]} */
const steps = [
  { name: "layers", command: ["node", "tools/lint/layers.mjs", "--check"] },
  { name: "doc comments", command: ["node", "tools/lint/exported-docs.mjs"] },
  { name: "types", command: ["tsc", "-b"] },
  { name: "format", command: ["biome", "check", "."] },
  { name: "lint", command: ["oxlint", "--type-aware", "."] },
  { name: "unused code", command: ["knip"] },
];

let failed = 0;
for (const { name, command } of steps) {
  const start = performance.now();
  const [program = "", ...rest] = command;
  const { status } =
    program === "node"
      ? spawnSync(process.execPath, rest, { stdio: "inherit" })
      : spawnSync("npx", ["--no-install", ...command], { stdio: "inherit" });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
  if (status !== 0) failed++;
}
process.exit(failed === 0 ? 0 : 1);
