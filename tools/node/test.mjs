#!/usr/bin/env node
/**
 * `node tools/node/test.mjs 24`: runs `npm test` with the newest Node of a major version. The program comes from npm and is kept in a cache
 * outside the checkout; an installed one is used as it is.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const [major = ""] = process.argv.slice(2);
if (!/^\d+$/.test(major)) {
  console.error("usage: node tools/node/test.mjs MAJOR, e.g. 24");
  process.exit(2);
}

const folder = join(cacheDir(), "node", major);
const bin = join(folder, "node_modules/.bin");
if (versionOf(join(bin, "node")) === undefined) {
  mkdirSync(folder, { recursive: true });
  // The program is put into place by an install script, and npm's scripts may be switched off.
  const install = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts=false", `node@${major}`];
  run("npm", install, process.env);
}
const version = versionOf(join(bin, "node"));
if (version?.startsWith(`v${major}.`) !== true) {
  console.error(`${bin} has ${version ?? "no Node that starts"}; delete ${folder} and try again`);
  process.exit(1);
}

console.log(`Node ${version}`);
run("npm", ["test"], { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` });

/** @param {string} program */
function versionOf(program) {
  if (!existsSync(program)) return undefined;
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
function run(program, args, env) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: "inherit", env });
  if (status !== 0) process.exit(status ?? 1);
}

/** The same rule as cacheDir() in tests/real-kubernetes. */
function cacheDir() {
  return process.env["CAPSTAN_CACHE"] || join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "capstan");
}
