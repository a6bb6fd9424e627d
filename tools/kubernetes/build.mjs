#!/usr/bin/env node
/**
 * `npm run kubernetes`: builds the real Kubernetes programs that tests and benches compare with or run, from pinned Go modules,
 * into a cache outside the checkout. What is there already (same version, same module files) is left alone.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));

const usage = `usage: npm run kubernetes -- [--version VERSION,VERSION] [--stamp VERSION] [--only NAME,NAME] [--print] [--help]

  --version VERSIONS of ${releases().join(", ")} (default: the newest); v1.36 is enough
  --stamp VERSION    the same sources under another version, e.g. v1.37.2-capstan.1: something to upgrade to, for the price of linking
  --only NAMES       only these programs, separated by commas
  --print            print the folder of the programs and build nothing

The programs go to \${CAPSTAN_CACHE:-\${XDG_CACHE_HOME:-~/.cache}/capstan}/kubernetes/VERSION/bin.`;

/** @typedef {{ name: string; module: string; package: string; ldflags: string[] }} Program */

main();

function main() {
  const { values } = parse();
  if (values.help) return console.log(usage);
  const found = values.version?.split(",").map((version) => findRelease(version)) ?? [findRelease(undefined)];
  if (found.length > 1 && values.stamp !== undefined) fail("--stamp goes with one version");
  for (const release of found) provide(stamped(release, values.stamp), values);
}

/**
 * Builds what is missing of one release and prints the folder of its programs.
 * @param {{ version: string; major: string; minor: string; folder: string }} release
 * @param {{ print?: boolean; only?: string }} options
 */
function provide(release, { print, only }) {
  const bin = join(cacheDir(), "kubernetes", release.version, "bin");
  if (print) return console.log(bin);

  const programs = select(programsOf(release), only);
  const start = performance.now();
  const missing = programs.filter((program) => !isBuilt(bin, program));
  if (missing.length > 0) {
    checkGo(missing);
    mkdirSync(stampDir(bin), { recursive: true });
    mkdirSync(bin, { recursive: true });
    for (const [index, program] of missing.entries()) build(bin, program, `${index + 1}/${missing.length}`);
  }
  const there = programs.length - missing.length;
  console.log(
    `Kubernetes ${release.version}: ${missing.length} built, ${there} there already, ${seconds(start)}\n${bin}`,
  );
}

function parse() {
  try {
    return parseArgs({
      options: {
        version: { type: "string" },
        stamp: { type: "string" },
        only: { type: "string" },
        print: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

/** The versions that can be built, newest first: one folder vMAJOR.MINOR each, whose go.mod names the patch. */
function releases() {
  return readdirSync(here)
    .filter((name) => /^v\d+\.\d+$/.test(name))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
    .map((folder) => versionIn(folder));
}

/** @param {string} folder */
function versionIn(folder) {
  const found = /k8s\.io\/kubernetes (v\S+)/.exec(readFileSync(join(here, folder, "go.mod"), "utf8"));
  return found?.[1] ?? fail(`tools/kubernetes/${folder}/go.mod requires no k8s.io/kubernetes`);
}

/** @param {string | undefined} wanted */
function findRelease(wanted) {
  const version = releases().find((each) => wanted === undefined || each === wanted || each.startsWith(`${wanted}.`));
  if (version === undefined) return fail(`no version ${wanted}; there are ${releases().join(", ")}`);
  const [major = "", minor = ""] = version.slice(1).split(".");
  return { version, major, minor, folder: `v${major}.${minor}` };
}

/**
 * The release under another version; only the patch level may differ, since the sources do not.
 * @param {{ version: string; major: string; minor: string; folder: string }} release
 * @param {string | undefined} stamp
 */
function stamped(release, stamp) {
  if (stamp === undefined) return release;
  if (!stamp.startsWith(`${release.folder}.`) || !/^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(stamp))
    fail(`--stamp ${stamp}: must be a version of ${release.folder}, like ${release.folder}.99-test.1`);
  return { ...release, version: stamp };
}

/**
 * @param {{ version: string; major: string; minor: string; folder: string }} release
 * @returns {Program[]}
 */
function programsOf({ version, major, minor, folder }) {
  const stamps = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((path) => [
    `-X ${path}.gitVersion=${version}`,
    `-X ${path}.gitMajor=${major}`,
    `-X ${path}.gitMinor=${minor}`,
    `-X ${path}.gitTreeState=clean`,
  ]);
  const kubernetes = [
    "kube-apiserver",
    "kubectl",
    "kubeadm",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
  ].map((name) => ({ name, module: join(here, folder), package: `k8s.io/kubernetes/cmd/${name}`, ldflags: stamps }));
  const etcd = [
    ["etcd", "server"],
    ["etcdctl", "etcdctl"],
    ["etcdutl", "etcdutl"],
  ].map(([name = "", path]) => ({
    name,
    module: join(here, "etcd"),
    package: `go.etcd.io/etcd/${path}/v3`,
    ldflags: [],
  }));
  // The minor version before: it makes the data that the newer one takes over.
  const earlierEtcd = [
    ["etcd", "server"],
    ["etcdutl", "etcdutl"],
  ].map(([name, path]) => ({
    name: `${name}-v3.6`,
    module: join(here, "etcd-v3.6"),
    package: `go.etcd.io/etcd/${path}/v3`,
    ldflags: [],
  }));
  const konnectivity = ["server", "agent"].map((name) => ({
    name: `proxy-${name}`,
    module: join(here, "konnectivity"),
    package: `sigs.k8s.io/apiserver-network-proxy/cmd/${name}`,
    ldflags: [],
  }));
  return [
    ...etcd,
    ...kubernetes,
    ...konnectivity,
    ...earlierEtcd,
    { name: "coredns", module: join(here, "coredns"), package: ".", ldflags: [] },
    { name: "pause", module: join(here, "pause"), package: ".", ldflags: [] },
    { name: "e2e-cni", module: join(here, "../cni"), package: ".", ldflags: [] },
  ];
}

/**
 * @param {Program[]} programs
 * @param {string | undefined} only
 */
function select(programs, only) {
  if (only === undefined) return programs;
  return only.split(",").map((name) => {
    const found = programs.find((program) => program.name === name);
    return found ?? fail(`--only: no program ${name}; there are ${programs.map((each) => each.name).join(", ")}`);
  });
}

/** The same rule as cacheDir() in tests/real-kubernetes. */
function cacheDir() {
  return process.env["CAPSTAN_CACHE"] || join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "capstan");
}

/** @param {string} bin */
function stampDir(bin) {
  return join(dirname(bin), "built-from");
}

/**
 * @param {string} bin
 * @param {Program} program
 */
function isBuilt(bin, program) {
  const stamp = join(stampDir(bin), program.name);
  return (
    existsSync(join(bin, program.name)) && existsSync(stamp) && readFileSync(stamp, "utf8") === sourceHash(program)
  );
}

/**
 * A program is rebuilt when the files that pin its sources change.
 * @param {Program} program
 */
function sourceHash(program) {
  const hash = createHash("sha256").update(JSON.stringify([program.package, program.ldflags]));
  for (const name of readdirSync(program.module).sort()) {
    if (/^go\.(mod|sum)$|(?<!_test)\.go$/.test(name))
      hash.update(name).update(readFileSync(join(program.module, name)));
  }
  return hash.digest("hex");
}

/** @param {Program[]} programs */
function checkGo(programs) {
  const { status, stdout } = spawnSync("go", ["env", "GOVERSION"], { encoding: "utf8" });
  const needed = programs
    .map((program) => /^go (\d+\.\d+)/m.exec(readFileSync(join(program.module, "go.mod"), "utf8"))?.[1] ?? "1.24")
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
  const have = /go(\d+)\.(\d+)/.exec(status === 0 ? stdout : "");
  const [major = 0, minor = 0] = (needed ?? "").split(".").map(Number);
  const cure = `install Go ${needed} or newer and put it first on the PATH`;
  if (have === null) fail(`Go ${needed} or newer is needed and there is no "go" on the PATH: ${cure}`);
  if (Number(have[1]) < major || (Number(have[1]) === major && Number(have[2]) < minor))
    fail(`Go ${needed} or newer is needed, "go" on the PATH is ${have[0]}: ${cure}`);
}

/**
 * @param {string} bin
 * @param {Program} program
 * @param {string} position
 */
function build(bin, program, position) {
  const start = performance.now();
  console.log(`${position} ${program.name} ...`);
  // A name of our own until it is whole, so that neither an abort nor a second build leaves a broken program behind.
  const temporary = join(bin, `.${program.name}.${process.pid}`);
  const ldflags = ["-s", "-w", ...program.ldflags].join(" ");
  // What a debugger would read is not even made: linking throws it away, and compiling takes a sixth less time without it.
  const flags = ["-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", ldflags];
  const { status } = spawnSync("go", ["build", ...flags, "-o", temporary, program.package], {
    cwd: program.module,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false" },
  });
  if (status !== 0) {
    rmSync(temporary, { force: true });
    fail(`building ${program.name} failed (see above)`);
  }
  renameSync(temporary, join(bin, program.name));
  writeFileSync(join(stampDir(bin), program.name), sourceHash(program));
  const megabytes = (statSync(join(bin, program.name)).size / 1e6).toFixed(0);
  console.log(`${position} ${program.name} ${seconds(start)}, ${megabytes} MB`);
}

/** @param {number} start */
function seconds(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}
