#!/usr/bin/env node
/**
 * Finds exported symbols without a doc comment: `node tools/lint/exported-docs.mjs [FOLDER …]` lists them and fails when there are any.
 * Re-exports need none; of several declarations of one name (a kind and its type, overloads), the first has it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const DECLARATION =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let|enum)\s+([\w$]+)/;

/**
 * The exported names of a source text that have no doc comment, with their lines.
 * @param {string} source
 */
export function undocumented(source) {
  const lines = source.split("\n");
  const seen = new Set();
  return lines.flatMap((text, index) => {
    const name = DECLARATION.exec(text)?.[1];
    if (name === undefined || seen.has(name)) return [];
    seen.add(name);
    return lines[index - 1]?.trimEnd().endsWith("*/") === true ? [] : [{ name, line: index + 1 }];
  });
}

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** @param {string} folder */
function sources(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.(test|d)\.ts$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !/\/(dist|generated|node_modules|testdata|testing)\//.test(path))
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folders = process.argv.length > 2 ? process.argv.slice(2) : ["packages", "providers"];
  const missing = folders
    .flatMap(sources)
    .flatMap((path) => undocumented(readFileSync(join(root, path), "utf8")).map((at) => ({ path, ...at })));
  for (const { path, line, name } of missing) console.error(`${path}:${line} ${name} has no doc comment`);
  if (missing.length > 0) process.exit(1);
}
