#!/usr/bin/env node
/**
 * `node tools/record-flags/refusals.mjs`: writes which flags and feature gates each Kubernetes version knows, so that a control plane
 * rejects the others before a machine fails to start with them. Flags of the control plane come from the recordings of record.mjs; those of the
 * kubelet, which reach back to v1.23, and all feature gates are read from the source of the Go modules.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { flagsInSource } from "./go-flags.mjs";

const recordings = fileURLToPath(new URL("../../providers/controlplane-hosted/testdata/flags", import.meta.url));
const target = fileURLToPath(new URL("../../packages/controlplane/src/refusals/tables.ts", import.meta.url));
const FIRST_KUBELET = 23;
const GATE_MODULES = [
  ["kubernetes", "pkg/features/kube_features.go"],
  ["apiserver", "pkg/features/kube_features.go"],
  ["apiextensions-apiserver", "pkg/features/kube_features.go"],
  ["client-go", "features/known_features.go"],
  ["component-base", "logs/api/v1/kube_features.go"],
  ["component-base", "metrics/features/kube_features.go"],
  ["component-base", "zpages/features/kube_features.go"],
  ["controller-manager", "pkg/features/kube_features.go"],
];
/** Registered by libraries for every kubelet; klog's until KEP-2845 removed them in v1.26. */
const LIBRARY_FLAGS =
  "help version v vmodule logging-format log-flush-frequency log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream";
const KLOG_FLAGS =
  "add-dir-header alsologtostderr log-backtrace-at log-dir log-file log-file-max-size logtostderr one-output skip-headers skip-log-headers stderrthreshold";

/** @type {Record<string, Map<string, number[]>>} */
const flags = {};
/** @type {Record<string, Record<string, string>>} */
const gates = {};
/** @type {Record<string, Record<string, string>>} */
const kubeadmGates = {};
/** @param {string} program @param {string} flag @param {number} minor */
function knows(program, flag, minor) {
  flags[program] ??= new Map();
  const minors = flags[program].get(flag) ?? [];
  if (!minors.includes(minor)) flags[program].set(flag, [...minors, minor]);
}

const versions = readdirSync(recordings).toSorted();
for (const file of versions) {
  const minor = Number(/v\d+\.(\d+)/.exec(file)?.[1]);
  const programs = JSON.parse(readFileSync(join(recordings, file), "utf8"));
  for (const [program, known] of Object.entries(programs))
    for (const flag of Object.keys(known)) knows(program, flag, minor);
}
const kubernetes = versions.flatMap((file) => /^v1\.(\d+)\.(\d+)/.exec(file)?.slice(0, 3) ?? []);
const recorded = new Map(
  kubernetes.flatMap((text, at) => (text.startsWith("v") ? [[Number(kubernetes[at + 1]), text]] : [])),
);
const last = Math.max(...recorded.keys());
for (let minor = FIRST_KUBELET; minor <= last; minor++) recordKubelet(recorded.get(minor) ?? `v1.${minor}.0`, minor);
for (const [minor, version] of recorded) {
  gates[minor] = gatesOf(version, minor);
  kubeadmGates[minor] = kubeadmGatesOf(version);
}
write();

/** @param {string} version @param {number} minor */
function recordKubelet(version, minor) {
  const dir = module("kubernetes", version);
  const folder = join(dir, "cmd/kubelet/app/options");
  const files = readdirSync(folder).filter((name) => name.endsWith(".go") && !/(_test|_windows)\.go$/.test(name));
  const texts = [...files.map((name) => join(folder, name)), join(dir, "pkg/kubelet/config/flags.go")]
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8"));
  const cadvisor = spawnSync("go", ["list", "-m", "-f", "{{.Dir}}", "github.com/google/cadvisor/lib"], {
    cwd: fileURLToPath(new URL(`../kubernetes/v1.${minor}`, import.meta.url)),
    encoding: "utf8",
  });
  const names = join(cadvisor.stdout?.trim() ?? "", "cadvisorflags/flags.go");
  if (cadvisor.status === 0 && existsSync(names))
    for (const [, flag] of readFileSync(names, "utf8").matchAll(/^\t[A-Z]\w*\s+= "([a-zA-Z_-]+)"/gm))
      knows("kubelet", String(flag).replaceAll("_", "-"), minor);
  for (const text of texts) {
    for (const flag of Object.keys(flagsInSource(text))) knows("kubelet", flag, minor);
    for (const [, flag] of text.matchAll(/register(?:Deprecated)?\(global, local, "([a-z_-]+)"/g))
      knows("kubelet", String(flag).replaceAll("_", "-"), minor);
  }
  for (const flag of LIBRARY_FLAGS.split(" ")) knows("kubelet", flag, minor);
  if (minor < 26) for (const flag of KLOG_FLAGS.split(" ")) knows("kubelet", flag, minor);
}

/** Feature gates with what they are locked to, or nothing. @param {string} version @param {number} minor */
function gatesOf(version, minor) {
  /** @type {Record<string, string>} */
  const found = { AllAlpha: "", AllBeta: "" };
  /** @type {Map<string, string>} */
  const names = new Map();
  for (const [name, path] of GATE_MODULES) {
    const file = join(
      module(String(name), name === "kubernetes" ? version : version.replace("v1.", "v0.")),
      String(path),
    );
    if (!existsSync(file)) continue;
    const text = readFileSync(file, "utf8");
    for (const [, ident, gate] of text.matchAll(/^\t(\w+)\s+(?:[\w.]*Feature = "(\w+)"|= "\1")/gm)) {
      names.set(String(ident), gate ?? String(ident));
      found[gate ?? String(ident)] ??= "";
    }
    for (const [, key, body] of text.matchAll(/^\t{1,2}(?:\w+\.)?(\w+): \{\n([\s\S]*?)^\t{1,2}\},/gm)) {
      const specs = [...String(body).matchAll(/MustParse\("1\.(\d+)"\), Default: (true|false)(.*)/g)];
      const spec = specs.filter(([, since]) => Number(since) <= minor).at(-1);
      if (spec !== undefined && /^[^/]*LockToDefault: true/.test(String(spec[3])))
        found[names.get(String(key)) ?? String(key)] = String(spec[2]);
    }
  }
  return found;
}

/** kubeadm's own feature gates. @param {string} version */
function kubeadmGatesOf(version) {
  const text = readFileSync(join(module("kubernetes", version), "cmd/kubeadm/app/features/features.go"), "utf8");
  const list = /InitFeatureGates = FeatureList\{\n([\s\S]*?)^\}/m.exec(text)?.[1] ?? "";
  return Object.fromEntries([...list.matchAll(/^\t(\w+):\s+\{/gm)].map(([, gate]) => [String(gate), ""]));
}

/** The folder of a Kubernetes module. @param {string} name @param {string} version */
function module(name, version) {
  const { status, stdout } = spawnSync("go", ["mod", "download", "-json", `k8s.io/${name}@${version}`], {
    cwd: tmpdir(),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`go mod download k8s.io/${name}@${version}: ${stdout}`);
  return JSON.parse(stdout).Dir;
}

function write() {
  const tables = Object.entries(flags).map(([program, known]) => {
    /** @type {Record<string, string[]>} */
    const ranges = {};
    for (const [flag, minors] of known) (ranges[rangeText(minors)] ??= []).push(flag);
    return `  ${JSON.stringify(program)}: {\n${rows(ranges)}  },\n`;
  });
  writeFileSync(
    target,
    `// Written by tools/record-flags/refusals.mjs.

/** The flags of each program by the minor versions that know them. Versions of etcd are its own, v3.N. */
export const FLAGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${tables.join("")}};

/** Feature gates of all components by the minor versions that know them; \`NAME=true\` is locked to that value. */
export const GATES: Readonly<Record<string, string>> = {
${rows(gateRanges(gates))}};

/** Feature gates of kubeadm itself, in ClusterConfiguration.featureGates. */
export const KUBEADM_GATES: Readonly<Record<string, string>> = {
${rows(gateRanges(kubeadmGates))}};
`,
  );
}

/** @param {Record<string, Record<string, string>>} byMinor */
function gateRanges(byMinor) {
  /** @type {Record<string, string[]>} */
  const known = {};
  for (const name of new Set(Object.values(byMinor).flatMap((each) => Object.keys(each)))) {
    const by = new Map();
    for (const [minor, each] of Object.entries(byMinor))
      if (each[name] !== undefined) by.set(each[name], [...(by.get(each[name]) ?? []), Number(minor)]);
    for (const [locked, minors] of by)
      (known[rangeText(minors)] ??= []).push(locked === "" ? name : `${name}=${locked}`);
  }
  return known;
}

/** @param {Record<string, string[]>} ranges */
function rows(ranges) {
  return Object.entries(ranges)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([range, all]) => {
      const lines = [""];
      for (const word of all.toSorted())
        if (`${lines.at(-1)} ${word}`.length > 130) lines.push(word);
        else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
      return `    ${JSON.stringify(range)}: \`\n${lines.map((line) => `      ${line}`).join("\n")}\`,\n`;
    })
    .join("");
}

/** @param {number[]} minors */
function rangeText(minors) {
  /** @type {[number, number][]} */
  const ranges = [];
  for (const minor of minors.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] === minor - 1) range[1] = minor;
    else ranges.push([minor, minor]);
  }
  return ranges.map(([from, to]) => `${from}-${to}`).join(",");
}
