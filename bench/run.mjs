#!/usr/bin/env node
/** `npm run bench -- NAME [--short]`: runs bench/NAME; `fleet` also takes `--kubeadm`. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [name, ...options] = process.argv.slice(2);
const known = readdirSync(here).filter((folder) => existsSync(join(here, folder, "main.ts")));
if (name === undefined || !known.includes(name)) {
  console.error(`usage: npm run bench -- NAME [--short], where NAME is one of: ${known.join(", ")}`);
  process.exit(2);
}
// As `npm start` does: most of what a busy manager makes lives for one request, and a larger nursery never copies it.
const node = ["--max-semi-space-size=32", join(here, "dist", name, "main.js")];
const { status } = spawnSync(process.execPath, [...node, ...options], { stdio: "inherit" });
process.exit(status ?? 1);
