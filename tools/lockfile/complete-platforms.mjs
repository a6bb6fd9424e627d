#!/usr/bin/env node
/**
 * Adds to package-lock.json the optional packages of other platforms that a registry mirror did not offer when the lock file was
 * written. Without them `npm ci` calls the lock file out of sync. Run after every `npm install`; it changes nothing when nothing is
 * missing.
 */
import { readFileSync, writeFileSync } from "node:fs";

const OS = [
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
  "aix",
  "wasi",
  "wasm32",
];
const CPU = ["arm64", "arm", "ia32", "x64", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32"];

const path = new URL("../../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
let added = 0;
for (const entry of Object.values({ ...lock.packages })) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] !== undefined) continue;
    lock.packages[key] = {
      version: range.replace(/^[\^~]/, ""),
      ...platformOf(name),
      optional: true,
      ...(entry.dev === true ? { dev: true } : {}),
    };
    added++;
  }
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
lock.packages = Object.fromEntries(sorted);
if (added > 0) writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} packages of other platforms added to package-lock.json`);

/** Platform packages carry their platform in their name. @param {string} name */
function platformOf(name) {
  const words = name.split(/[-/_.]/);
  const cpu = CPU.find((word) => words.includes(word));
  const os = OS.find((word) => words.includes(word));
  return { ...(cpu === undefined ? {} : { cpu: [cpu] }), ...(os === undefined ? {} : { os: [os] }) };
}
