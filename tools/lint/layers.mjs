#!/usr/bin/env node
/**
 * The order in which packages may import each other. `node tools/lint/layers.mjs` writes what follows from it and from the folders of
 * packages and providers: rules in .oxlintrc.json, project references, and the manager's dependencies. With --check it only says which
 * files are not up to date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { providersOf, staleFiles } from "./workspaces.mjs";

/**
 * Packages in the order they may import each other: each imports those above it, except what it says.
 * @type {{ name: string; never?: string[] }[]}
 */
export const PACKAGES = [
  { name: "apimachinery" },
  { name: "os", never: ["apimachinery"] },
  { name: "pki" },
  { name: "apiserver" },
  { name: "runtime", never: ["apiserver"] },
  { name: "capi", never: ["apiserver"] },
  { name: "userdata", never: ["apiserver"] },
  { name: "media", never: ["apiserver"] },
  { name: "kubernetes-install" },
  { name: "node-image", never: ["apiserver"] },
  { name: "etcd", never: ["apiserver"] },
  { name: "backup", never: ["apiserver"] },
  { name: "controlplane", never: ["apiserver"] },
  { name: "workloads" },
  { name: "vm", never: ["apiserver", "capi"] },
  { name: "host-agent", never: ["apiserver"] },
  { name: "dashboard-server" },
  { name: "manager" },
  { name: "cli" },
  { name: "dashboard" },
];

const RULES = ".oxlintrc.json";
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Providers import packages up to `host-agent`, never each other; only `manager` imports providers. */
const PROVIDERS = providersOf(root);

const names = PACKAGES.map(({ name }) => name);
const importedAs = (/** @type {string} */ name) => (name === "cli" ? "capstan" : `@capstan/${name}`);

/** The overrides of .oxlintrc.json that keep imports pointing down. */
export function overrides() {
  const below = PACKAGES.map(({ name, never = [] }, index) => {
    const later = names.slice(index + 1);
    const providers = name === "manager" ? [] : PROVIDERS;
    return override(
      `packages/${name}/src/**/*.ts`,
      [...never, ...later, ...providers],
      `${name} may not import this: see docs/architecture.md`,
    );
  });
  const above = names.slice(names.indexOf("host-agent") + 1);
  const provider = override(
    "providers/*/src/**/*.ts",
    ["apiserver", ...above, ...PROVIDERS],
    "a provider imports packages below it, never another provider: see docs/architecture.md",
  );
  return [...below, provider];
}

/**
 * @param {string} files
 * @param {string[]} refused
 * @param {string} message
 */
function override(files, refused, message) {
  const group = [...new Set(refused)].flatMap((name) => [importedAs(name), `${importedAs(name)}/*`]);
  return { files: [files], rules: { "no-restricted-imports": ["error", { patterns: [{ group, message }] }] } };
}

/** The configuration with its rules about imports replaced. @param {string} text */
export function withLayers(text) {
  const config = JSON.parse(text);
  const [first, ...rest] = config.overrides;
  const others = rest.filter((/** @type {{ rules: Record<string, unknown> }} */ { rules }) => {
    return !Array.isArray(rules["no-restricted-imports"]);
  });
  // Rules for tests come last: the last match counts.
  return `${JSON.stringify({ ...config, overrides: [first, ...overrides(), ...others] }, null, 2)}\n`;
}

/** What .oxlintrc.json should be, if it is not. @returns {[string, object][]} */
function staleRules() {
  const before = readFileSync(join(root, RULES), "utf8");
  const after = JSON.parse(withLayers(before));
  return JSON.stringify(JSON.parse(before)) === JSON.stringify(after) ? [] : [[RULES, after]];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stale = [...staleRules(), ...staleFiles(root)];
  for (const [file, json] of stale) {
    if (process.argv.includes("--check")) {
      console.error(`${file} is not up to date: node tools/lint/layers.mjs && npm run format`);
      process.exitCode = 1;
    } else writeFileSync(join(root, file), `${JSON.stringify(json, null, 2)}\n`);
  }
}
