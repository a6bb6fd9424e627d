#!/usr/bin/env node
/**
 * Makes the host agent one Linux program that needs no Node: `dist/agent/capstan-host-agent`, the bundled agent inside a copy of the
 * Node that runs this (a single executable application). Run after the build. What is there already, from the same bundle and the
 * same Node, is left alone.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Node looks for this text in itself to learn whether it carries a program; fixed by Node. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const folder = fileURLToPath(new URL("../../dist/agent/", import.meta.url));
const program = join(folder, "capstan-host-agent");
const stamp = `${program}.stamp`;

if (process.platform !== "linux") fail("the agent's program is made on Linux, for Linux");
execFileSync(process.execPath, [fileURLToPath(new URL("bundle.mjs", import.meta.url))], { stdio: "inherit" });
const bundle = `${program}.cjs`;
const start = performance.now();
const wanted = stampOf(bundle, process.execPath, fileURLToPath(import.meta.url));
const isThere = existsSync(program) && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted;
if (!isThere) await make();
const seconds = ((performance.now() - start) / 1000).toFixed(1);
const size = Math.round(statSync(program).size / 1024 / 1024);
console.log(`${program} (${size} MiB, Node ${process.version}, ${isThere ? "there already" : `made in ${seconds} s`})`);

async function make() {
  const work = mkdtempSync(join(folder, ".new-"));
  try {
    const config = join(work, "sea.json");
    const blob = join(work, "sea.blob");
    writeFileSync(
      config,
      JSON.stringify({ main: bundle, output: blob, disableExperimentalSEAWarning: true, useCodeCache: true }),
    );
    execFileSync(process.execPath, ["--experimental-sea-config", config], { stdio: ["ignore", "ignore", "inherit"] });
    const made = join(work, "program");
    copyFileSync(process.execPath, made);
    chmodSync(made, 0o755);
    // The linker's symbols are a tenth of the size and are of no use on a host.
    try {
      execFileSync("strip", [made], { stdio: "ignore" });
    } catch {
      // A machine without binutils makes a bigger program.
    }
    const { inject } = createRequire(import.meta.url)("postject");
    await inject(made, "NODE_SEA_BLOB", readFileSync(blob), { sentinelFuse: FUSE });
    execFileSync(made, ["--help"], { stdio: "ignore" });
    renameSync(made, program);
    writeFileSync(stamp, wanted);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @param {string[]} files */
function stampOf(...files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex");
}

/** @param {string} message */
function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
