/** Which sources get mutants, and which tests are to catch them. */
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** Names alone (index), tables written by a program, and code of tests. */
const LEFT_OUT = /(^|\/)(index\.ts|generated\/|testing\/|testdata\/|contract-suite\/)|\.test\.ts$|\.d\.ts$/;

/**
 * @param {string} path Relative to the root.
 * @returns {string | undefined} The folder of the package that a path is in.
 */
export const packageOf = (path) => /^(packages|providers)\/[^/]+/.exec(path)?.[0];

/**
 * The sources that a path names: a file, or all below a folder.
 * @param {string} root
 * @param {string} path
 * @returns {string[]}
 */
export function sourcesOf(root, path) {
  const clean = relative(root, join(root, path));
  const inside = packageOf(clean) === clean ? `${clean}/src` : clean;
  return filesBelow(root, inside).filter((file) => isSource(file));
}

/** @param {string} file */
export const isSource = (file) =>
  /^(packages|providers)\/[^/]+\/src\/.*\.ts$/.test(file) && !LEFT_OUT.test(file.replace(/^[^/]+\/[^/]+\//, ""));

/** Suites that repeat whole stories take longest: mutants that other tests catch are not tried with them. */
const SLOW = /(crash|contract|model|simulation)[^/]*\.test\.ts$/;

/** The tests of a package, the slow ones last. @param {string} root @param {string} path */
export function testsOf(root, path) {
  const tests = filesBelow(root, path).filter((file) => file.endsWith(".test.ts"));
  return [...tests.filter((file) => !SLOW.test(file)), ...tests.filter((file) => SLOW.test(file))];
}

/**
 * The sources that differ from a commit.
 * @param {string} root
 * @param {string} base
 */
export function changedSince(root, base) {
  const { status, stdout, stderr } = spawnSync("git", ["diff", "--name-only", "--diff-filter=d", base, "--"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`cannot compare with ${base}: ${stderr.trim()}`);
  return stdout.split("\n").filter((file) => isSource(file));
}

/** @param {string} root @param {string} path @returns {string[]} */
function filesBelow(root, path) {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (stat === undefined) throw new Error(`${path} does not exist`);
  if (stat.isFile()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules" && name !== "dist")
    .flatMap(({ name }) => filesBelow(root, join(path, name)))
    .toSorted();
}

/**
 * Map.groupBy, which Node 20 does not have.
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => string} key
 * @returns {Map<string, T[]>}
 */
export function groupBy(items, key) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
