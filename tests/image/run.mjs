#!/usr/bin/env node
/**
 * `npm run image`: carries out the Containerfile step by step without a container program. Each stage is a root file system of its own
 * over this machine's (which has Node, as the base image does), entered with chroot; needs root. The last line is what `capstan --help`
 * and `capstan version` print inside.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
if (process.getuid?.() !== 0 || process.platform !== "linux") {
  console.error("needs root on Linux: root file systems are mounted");
  process.exit(2);
}
if (process.env["CAPSTAN_IMAGE_NAMESPACE"] === undefined) {
  // Mounts of its own: nothing is left behind whatever happens.
  const env = { ...process.env, CAPSTAN_IMAGE_NAMESPACE: "1" };
  const again = spawnSync("unshare", ["--mount", process.execPath, fileURLToPath(import.meta.url)], {
    stdio: "inherit",
    env,
  });
  process.exit(again.status ?? 1);
}

const work = mkdtempSync(join(tmpdir(), "capstan-image-"));
run("mount", ["-t", "tmpfs", "tmpfs", work]);
/** @type {Map<string, string>} */
const stages = new Map();
const image = { stage: "", folder: "/", user: "0:0", entrypoint: /** @type {string[]} */ ([]) };
try {
  for (const [word = "", text = ""] of instructions(readFileSync(join(root, "Containerfile"), "utf8")))
    step(word, text);
  const [program = "", ...first] = image.entrypoint;
  for (const argument of ["--help", "version"]) {
    const [uid = "0", gid = "0"] = image.user.split(":");
    const args = [`--userspec=${uid}:${gid}`, image.stage, program, ...first, argument];
    const { status, stdout, stderr } = spawnSync("chroot", args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`${program} ${argument} as ${image.user}: ${stderr}`);
    console.log(stdout.split("\n")[0]);
  }
} finally {
  spawnSync("umount", ["-R", "-l", work]);
  rmSync(work, { recursive: true, force: true });
}

/**
 * Instructions of a Containerfile: lines that end in a backslash go on.
 * @param {string} text
 */
function instructions(text) {
  return text
    .replaceAll(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, word, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      if (word === undefined || rest === undefined) throw new Error(`not understood: ${line}`);
      return [word, rest];
    });
}

/**
 * @param {string} word
 * @param {string} text
 */
function step(word, text) {
  console.log(`=== ${word} ${text}`);
  switch (word) {
    case "FROM":
      return begin(/ AS (\S+)$/.exec(text)?.[1] ?? "last");
    case "WORKDIR":
      image.folder = text;
      mkdirSync(join(image.stage, text), { recursive: true });
      return undefined;
    case "COPY":
      return copy(text);
    case "RUN":
      return run("chroot", [image.stage, "/bin/sh", "-ec", `cd ${image.folder} && ${text}`]);
    case "USER":
      image.user = text;
      return undefined;
    case "ENTRYPOINT":
      image.entrypoint = JSON.parse(text);
      return undefined;
    case "VOLUME":
    case "CMD":
      return undefined;
    default:
      throw new Error(`${word} is not known here`);
  }
}

/** @param {string} name */
function begin(name) {
  const folder = join(work, name);
  for (const part of ["upper", "work", "root"]) mkdirSync(join(folder, part), { recursive: true });
  image.stage = join(folder, "root");
  image.folder = "/";
  stages.set(name, image.stage);
  const options = `lowerdir=/,upperdir=${join(folder, "upper")},workdir=${join(folder, "work")}`;
  run("mount", ["-t", "overlay", "overlay", "-o", options, image.stage]);
  for (const system of ["dev", "proc"]) run("mount", ["--rbind", `/${system}`, join(image.stage, system)]);
}

/** @param {string} text */
function copy(text) {
  const match = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text);
  if (match === null) throw new Error(`COPY ${text} is not understood`);
  const [, from, source = "", target = ""] = match;
  const to = join(image.stage, target.startsWith("/") ? target : join(image.folder, target));
  mkdirSync(dirname(to), { recursive: true });
  if (from !== undefined) return cpSync(join(stages.get(from) ?? "", source), to, { recursive: true });
  // What git knows is what a clone has.
  const files = spawnSync("git", ["ls-files"], { cwd: join(root, source), encoding: "utf8" })
    .stdout.trim()
    .split("\n");
  for (const file of files) cpSync(join(root, source, file), join(to, file));
  return undefined;
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function run(program, args) {
  const { status } = spawnSync(program, args, { stdio: "inherit" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}`);
}
