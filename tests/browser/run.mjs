#!/usr/bin/env node
/** `npm run browser -- [NAME]`: the dashboard in a real Chromium. Installs Debian's package when it is missing and we are root. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

if (!existsSync("/usr/bin/chromium")) {
  const rights = process.getuid?.() === 0;
  if (rights) {
    console.log("=== installing chromium");
    spawnSync("apt-get", ["update", "-q"], { stdio: "inherit" });
    spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", "chromium"], { stdio: "inherit" });
  }
  if (!existsSync("/usr/bin/chromium")) {
    console.error("the browser tests need /usr/bin/chromium: apt-get install chromium (Debian, Ubuntu)");
    process.exit(2);
  }
}
const names = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const options = process.argv.slice(2).filter((argument) => argument.startsWith("-"));
const { status } = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--config",
    "tests/browser/vitest.config.mjs",
    ...options,
    ...names.map((name) => `tests/browser/${name}.test.ts`),
  ],
  { cwd: root, stdio: "inherit" },
);
process.exit(status ?? 1);
