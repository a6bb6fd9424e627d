#!/usr/bin/env node
/** `npm run cloud-init`: unpacks Debian's cloud-init if it is missing, then has it read our user data. */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureCloudInit } from "./cloud-init-program.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
console.log(`cloud-init is in ${ensureCloudInit().modules}`);
const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", "tests/cloud-init/vitest.config.mjs"];
process.exit(spawnSync(process.execPath, vitest, { cwd: root, stdio: "inherit" }).status ?? 1);
