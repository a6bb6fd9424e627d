#!/usr/bin/env node
/**
 * `node tools/record-flags/record.mjs [FOLDER ...]`: records the flags of the control plane's programs, in every version that
 * tools/kubernetes can build or in those of these folders (v1.37, etcd), for the tests of which flags a tenant may set. Hidden flags are flags too, so the programs' own code is asked, not their help.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { flagsInSource } from "./go-flags.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "../kubernetes");
const target = join(here, "../../providers/controlplane-hosted/testdata/flags");
const COMPONENTS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];

const scratch = mkdtempSync(join(tmpdir(), "capstan-record-flags-"));
try {
  mkdirSync(target, { recursive: true });
  const given = process.argv.slice(2);
  const wanted = readdirSync(modules).filter((name) => given.length === 0 || given.includes(name));
  for (const folder of wanted.filter((name) => /^v\d+\.\d+$/.test(name)))
    save(versionOf(folder, "k8s.io/kubernetes"), kubernetesFlags(folder));
  for (const folder of wanted.filter((name) => name.startsWith("etcd")))
    save(`etcd-${versionOf(folder, "go.etcd.io/etcd/server/v3")}`, { etcd: etcdFlags(folder) });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Flags of the components, from a program that is linked with them. @param {string} folder */
function kubernetesFlags(folder) {
  const overlay = join(scratch, "overlay.json");
  const place = join(modules, folder, "flags/main.go");
  writeFileSync(overlay, JSON.stringify({ Replace: { [place]: join(here, "main.go") } }));
  const program = join(scratch, "flags");
  // As build.mjs builds, so that what was compiled there is not compiled again.
  const flags = ["-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", "-s -w"];
  run("go", ["build", "-overlay", overlay, ...flags, "-o", program, "./flags"], join(modules, folder));
  return Object.fromEntries(COMPONENTS.map((name) => [name, oneLine(JSON.parse(run(program, [name], scratch)))]));
}

/** etcd's own list of flags is private to it, and its help is written by hand: the source has them. @param {string} folder */
function etcdFlags(folder) {
  const source = run("go", ["list", "-m", "-f", "{{.Dir}}", "go.etcd.io/etcd/server/v3"], join(modules, folder)).trim();
  const texts = ["etcdmain/config.go", "embed/config.go"].map((file) => readFileSync(join(source, file), "utf8"));
  // Its feature gates register their flag themselves.
  const gates = /ServerFeatureGateFlagName\s*=\s*"([a-z-]+)"/.exec(texts.join("\n"))?.[1];
  const others = gates === undefined ? {} : { [gates]: { usage: "" } };
  return oneLine(Object.assign({}, ...texts.map((text) => flagsInSource(text)), others));
}

/**
 * The first line describes a flag; some have hundreds of lines. Kubernetes takes underscores for dashes.
 * @param {Record<string, {usage: string}>} flags
 */
function oneLine(flags) {
  const entries = Object.entries(flags).map(([name, flag]) => [
    name.replaceAll("_", "-"),
    { ...flag, usage: flag.usage.split("\n")[0] },
  ]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param {string} folder @param {string} module */
function versionOf(folder, module) {
  const text = readFileSync(join(modules, folder, "go.mod"), "utf8");
  const line = text.split("\n").find((each) => each.replace("require", "").trim().startsWith(`${module} `));
  if (line === undefined) throw new Error(`tools/kubernetes/${folder}/go.mod requires no ${module}`);
  return line.split(`${module} `)[1]?.split(" ")[0] ?? "";
}

/** @param {string} name @param {object} flags */
function save(name, flags) {
  writeFileSync(join(target, `${name}.json`), `${JSON.stringify(flags, undefined, 1)}\n`);
  const counts = Object.entries(flags).map(([program, all]) => `${Object.keys(all).length} of ${program}`);
  console.log(`${name}: ${counts.join(", ")}`);
}

/** @param {string} command @param {string[]} args @param {string} cwd */
function run(command, args, cwd) {
  const env = { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false" };
  const { status, stdout } = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 64 << 20,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed (see above)`);
  return stdout;
}
