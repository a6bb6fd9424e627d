#!/usr/bin/env node
/**
 * The order in which packages may import each other, and the lint rules that follow from it. `node tools/lint/layers.mjs` writes the
 * rules into .oxlintrc.json; with --check it only says whether they are up to date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

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
  { name: "etcd", never: ["apiserver"] },
  { name: "backup", never: ["apiserver"] },
  { name: "controlplane", never: ["apiserver"] },
  { name: "workloads" },
  { name: "host-agent", never: ["apiserver"] },
  { name: "dashboard-server" },
  { name: "manager" },
  { name: "cli" },
  { name: "dashboard" },
];

/** Providers import packages up to `host-agent`, never each other; only `manager` imports providers. */
export const PROVIDERS = [
  "core",
  "bootstrap-kubeadm",
  "controlplane-hosted",
  "controlplane-kubeadm",
  "addons",
  "infra-meta",
  "infra-byoh",
  "infra-metal3",
  "infra-kubernetes",
  "infra-kvm",
  "infra-openstack",
  "infra-memory",
];

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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = fileURLToPath(new URL("../../.oxlintrc.json", import.meta.url));
  const before = readFileSync(file, "utf8");
  const after = withLayers(before);
  // The formatter decides about line breaks; only the content is compared.
  const same = JSON.stringify(JSON.parse(before)) === JSON.stringify(JSON.parse(after));
  if (process.argv.includes("--check")) {
    if (!same) console.error(".oxlintrc.json is not up to date: node tools/lint/layers.mjs && npm run format");
    process.exit(same ? 0 : 1);
  }
  if (!same) writeFileSync(file, after);
}
