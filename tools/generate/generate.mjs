#!/usr/bin/env node
/**
 * Writes what follows from the definitions of kinds: component files and templates of clusters in the layout of a clusterctl
 * repository, and the API reference, from the definitions of commands their reference, and from the providers' catalogues the reasons of conditions. Runs compiled code: `npm run build` comes
 * first. With --check nothing is written; files that are not up to date are named and the exit code is 1.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { GENERATED_FOLDERS, generatedFiles, REASONS_PAGE, reasonsPage } from "@capstan/manager";
import { commandReference } from "capstan";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const { values } = parseArgs({ options: { check: { type: "boolean" }, help: { type: "boolean", short: "h" } } });
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

if (values.help) console.log("usage: node tools/generate/generate.mjs [--check]");
else if (values.check) await check();
else await write();

async function write() {
  for (const folder of GENERATED_FOLDERS) rmSync(join(root, folder), { recursive: true, force: true });
  for (const [path, text] of await files()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.log(path);
  }
}

async function check() {
  const wanted = await files();
  const stale = [...wanted].filter(
    ([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), "utf8") !== text,
  );
  const left = GENERATED_FOLDERS.flatMap((folder) => present(join(root, folder))).filter((path) => !wanted.has(path));
  for (const path of [...stale.map(([path]) => path), ...left])
    console.error(`${path} is not up to date: npm run generate`);
  if (stale.length + left.length > 0) process.exitCode = 1;
}

/** All generated files by path. */
async function files() {
  const pages = [
    ["docs/reference/cli.md", await commandReference()],
    [REASONS_PAGE, await reasonsPage()],
  ];
  return new Map([...generatedFiles(version), ...pages]);
}

/** @param {string} folder */
function present(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
