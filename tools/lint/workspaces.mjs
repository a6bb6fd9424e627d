/**
 * What the folders of packages and providers imply for files that list them: project references follow the dependencies of each package,
 * the manager depends on the providers that its list imports, and what is compiled as a whole refers to all of them.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const SCOPE = "@capstan/";
const VERSION = "0.1.0";
const LIST = "packages/manager/src/providers.ts";
const MANAGER = "packages/manager/package.json";

/** Compiled with every package, except those that this says: the dashboard is for browsers. */
const WHOLE = [
  { file: "tsconfig.json", never: [], also: ["tests", "bench", "tsconfig.unit.json"] },
  { file: "tsconfig.unit.json", never: ["packages/dashboard"], also: [] },
  { file: "tests/tsconfig.json", never: ["packages/dashboard"], also: [] },
  { file: "bench/tsconfig.json", never: ["packages/dashboard"], also: ["tests"] },
];

/** The names of the folders in `providers/` that have a manifest. @param {string} root */
export const providersOf = (root) => workspaces(root, "providers").map((folder) => folder.slice("providers/".length));

/**
 * The files that do not say what the folders imply, with the text they should have.
 * @param {string} root
 * @returns {Map<string, object>} By path; the formatter decides about line breaks.
 */
export function staleFiles(root) {
  const folders = ["packages", "providers"].flatMap((above) => workspaces(root, above));
  const manager = withProviders(readJson(root, MANAGER), readFileSync(join(root, LIST), "utf8"), providersOf(root));
  const wanted = new Map([[MANAGER, manager]]);
  for (const { file, never, also } of WHOLE) {
    const paths = [...folders.filter((folder) => !never.includes(folder)), ...also];
    wanted.set(file, referring(root, file, paths));
  }
  for (const folder of folders) {
    const { dependencies = {} } = folder === "packages/manager" ? manager : readJson(root, `${folder}/package.json`);
    const paths = folders.filter((other) => Object.hasOwn(dependencies, nameOf(root, other)));
    // The dashboard is compiled for browsers and imports types only.
    if (folder !== "packages/dashboard")
      wanted.set(`${folder}/tsconfig.json`, referring(root, `${folder}/tsconfig.json`, paths));
  }
  return new Map([...wanted].filter(([file, json]) => JSON.stringify(json) !== JSON.stringify(readJson(root, file))));
}

/**
 * A manifest that depends on exactly the providers that a list imports.
 * @param {{ dependencies: Record<string, string> }} manifest
 * @param {string} list
 * @param {readonly string[]} providers
 */
export function withProviders(manifest, list, providers) {
  const names = new Set(providers.map((name) => SCOPE + name));
  const imported = [...list.matchAll(/from "(@capstan\/[^/"]+)/g)].map(([, name = ""]) => name);
  const others = Object.entries(manifest.dependencies).filter(([name]) => !names.has(name));
  const own = imported.filter((name) => names.has(name)).map((name) => [name, VERSION]);
  const dependencies = Object.fromEntries([...others, ...own].toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)));
  return { ...manifest, dependencies };
}

/**
 * @param {string} root
 * @param {string} file
 * @param {readonly string[]} paths From the root.
 */
function referring(root, file, paths) {
  const from = join(root, file, "..");
  const config = readJson(root, file);
  const wanted = new Set(paths.map((path) => join(root, path)));
  /** @type {{ path: string }[]} */
  const before = config.references ?? [];
  // The order of references has no meaning: those that are there keep their places.
  const kept = before.filter(({ path }) => wanted.delete(join(from, path)));
  const references = [...kept, ...[...wanted].map((path) => ({ path: relative(from, path) }))];
  return references.length === 0 ? config : { ...config, references };
}

/**
 * @param {string} root
 * @param {string} above
 */
function workspaces(root, above) {
  const names = readdirSync(join(root, above)).toSorted();
  return names.map((name) => `${above}/${name}`).filter((folder) => existsSync(join(root, folder, "package.json")));
}

/**
 * @param {string} root
 * @param {string} folder
 */
const nameOf = (root, folder) => readJson(root, `${folder}/package.json`).name;

/**
 * @param {string} root
 * @param {string} file
 */
const readJson = (root, file) => JSON.parse(readFileSync(join(root, file), "utf8"));
