#!/usr/bin/env node
/**
 * Builds upstream Cluster API (core, kubeadm bootstrap and kubeadm control plane managers, clusterctl) from pinned Go modules
 * into a cache outside the checkout: tests and recordings compare with what they do. What is there already is left alone.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const MODULE = "sigs.k8s.io/cluster-api";
const PROGRAMS = [
  { name: "kubeadm-bootstrap-manager", package: `${MODULE}/bootstrap/kubeadm` },
  { name: "core-manager", package: `${MODULE}/core` },
  { name: "kubeadm-control-plane-manager", package: `${MODULE}/controlplane/kubeadm` },
  { name: "clusterctl", package: `${MODULE}/cmd/clusterctl` },
];

const usage = `usage: node tools/cluster-api/build.mjs [--only NAME,NAME] [--print] [--help]

  --only NAMES  only these of ${PROGRAMS.map(({ name }) => name).join(", ")}
  --print       print the folder of the programs and build nothing`;

const { values } = parseArgs({
  options: { only: { type: "string" }, print: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
const version = /sigs\.k8s\.io\/cluster-api (v\S+)/.exec(readFileSync(join(here, "go.mod"), "utf8"))?.[1] ?? "";
const bin = join(cacheDir(), "cluster-api", version, "bin");

if (values.help) console.log(usage);
else if (values.print) console.log(bin);
else {
  mkdirSync(bin, { recursive: true });
  for (const program of selected()) build(program);
  console.log(`Cluster API ${version}\n${bin}`);
}

function selected() {
  const names = values.only?.split(",");
  const unknown = names?.find((name) => !PROGRAMS.some((program) => program.name === name));
  if (unknown !== undefined) fail(`--only: no program ${unknown}\n${usage}`);
  return PROGRAMS.filter(({ name }) => names === undefined || names.includes(name));
}

/** The same rule as tools/kubernetes. */
function cacheDir() {
  return process.env["CAPSTAN_CACHE"] || join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "capstan");
}

/** @param {{ name: string; package: string }} program */
function build({ name, package: path }) {
  const stamp = join(bin, `.${name}.built-from`);
  const source = createHash("sha256").update(path);
  for (const file of ["go.mod", "go.sum"]) source.update(readFileSync(join(here, file)));
  const hash = source.digest("hex");
  if (existsSync(join(bin, name)) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;

  console.log(`building ${name} ...`);
  // A name of its own until it is whole, so that neither an abort nor a second build leaves a broken program behind.
  const temporary = join(bin, `.${name}.${process.pid}`);
  const ldflags = `-s -w -X ${MODULE}/version.gitVersion=${version}`;
  // As tools/kubernetes/build.mjs: nothing for debuggers is made.
  const flags = ["-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", ldflags];
  const { status, error } = spawnSync("go", ["build", ...flags, "-o", temporary, path], {
    cwd: here,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false" },
  });
  if (status !== 0) {
    rmSync(temporary, { force: true });
    fail(
      `building ${name} failed${error ? `: ${error.message} (Go 1.26 or newer must be on the PATH)` : " (see above)"}`,
    );
  }
  renameSync(temporary, join(bin, name));
  writeFileSync(stamp, hash);
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}
