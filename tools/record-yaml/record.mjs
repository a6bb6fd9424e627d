#!/usr/bin/env node
/**
 * `node tools/record-yaml/record.mjs`: records how Kubernetes' reader of YAML understands a corpus of files that a tenant might supply, what
 * we would write of them, and the files of attacks, for tests that hold our reading against it.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "../kubernetes");
const provider = join(here, "../../providers/controlplane-hosted");
const security = join(here, "../../tests/security");
const REFUSED = "0".repeat(12);

const scratch = mkdtempSync(join(tmpdir(), "capstan-record-yaml-"));
try {
  const { CORPUS, digestOf, ourReading, yamlCorpus } = await ours(join(provider, "src/testing/yaml-corpus.ts"));
  const { ATTACKS } = await ours(join(security, "user-file-attacks.ts"));
  /** @type {{type: string, text: string}[]} */
  const corpus = yamlCorpus(CORPUS.seed, CORPUS.count);
  const written = corpus.flatMap((file) => ourReading(file).written ?? []);
  const texts = [...corpus.map((file) => file.text), ...written];
  const attacks = Object.values(ATTACKS).map(({ text }) => text);
  /** @type {{versions: string[], digests: string[], attacks: object[]} | undefined} */
  let recorded;
  for (const folder of readdirSync(modules).filter((name) => /^v\d+\.\d+$/.test(name))) {
    const readings = read(folder, [...texts, ...attacks]);
    const digests = readings
      .slice(0, texts.length)
      .map(({ read, refused }) => (refused === true ? REFUSED : digestOf(read ?? null)));
    const ofAttacks = readings.slice(texts.length);
    if (recorded === undefined) recorded = { versions: [], digests, attacks: ofAttacks };
    else if (JSON.stringify([digests, ofAttacks]) !== JSON.stringify([recorded.digests, recorded.attacks]))
      throw new Error(`${folder} reads YAML in another way than ${recorded.versions.join(", ")}: record them apart`);
    recorded.versions.push(versionOf(folder));
  }
  if (recorded === undefined) throw new Error("tools/kubernetes has no version");
  const packed = (/** @type {string[]} */ digests) => Buffer.from(digests.join(""), "hex").toString("base64");
  save(join(provider, "testdata/yaml/corpus.json"), {
    ...CORPUS,
    kubernetes: recorded.versions,
    // Of the texts themselves: another generator or another way to write asks for another recording.
    texts: createHash("sha256").update(JSON.stringify(texts)).digest("hex"),
    original: packed(recorded.digests.slice(0, corpus.length)),
    written: packed(recorded.digests.slice(corpus.length)),
  });
  const results = Object.fromEntries(Object.keys(ATTACKS).map((name, i) => [name, recorded?.attacks[i]]));
  save(join(security, "user-file-attacks.json"), results);
  console.log(`${corpus.length} files, ${written.length} of them written, ${attacks.length} attacks`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** A module of ours, as it is in the sources. @param {string} file */
async function ours(file) {
  const outfile = join(scratch, `${basename(file)}.mjs`);
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    alias: { "@capstan/apimachinery": join(here, "../../packages/apimachinery/src/index.ts") },
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return await import(outfile);
}

/** @param {string} folder @param {string[]} texts @returns {{read?: unknown, refused?: boolean}[]} */
function read(folder, texts) {
  const overlay = join(scratch, "overlay.json");
  const place = join(modules, folder, "yaml/main.go");
  writeFileSync(overlay, JSON.stringify({ Replace: { [place]: join(here, "main.go") } }));
  const program = join(scratch, "yaml");
  run("go", ["build", "-overlay", overlay, "-o", program, "./yaml"], join(modules, folder));
  const input = texts.map((text) => `${JSON.stringify(text)}\n`).join("");
  const lines = run(program, [], scratch, input).trim().split("\n");
  if (lines.length !== texts.length) throw new Error(`${lines.length} answers for ${texts.length} texts`);
  return lines.map((line) => JSON.parse(line));
}

/** @param {string} folder */
function versionOf(folder) {
  const found = /k8s\.io\/kubernetes (v\S+)/.exec(readFileSync(join(modules, folder, "go.mod"), "utf8"));
  return found?.[1] ?? folder;
}

/** @param {string} path @param {object} value */
function save(path, value) {
  writeFileSync(path, `${JSON.stringify(value, undefined, 1)}\n`);
}

/** @param {string} command @param {string[]} args @param {string} cwd @param {string} [input] */
function run(command, args, cwd, input = "") {
  const env = { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false" };
  const { status, stdout } = spawnSync(command, args, {
    cwd,
    env,
    input,
    encoding: "utf8",
    maxBuffer: 256 << 20,
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed (see above)`);
  return stdout;
}
