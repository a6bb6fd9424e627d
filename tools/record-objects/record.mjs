#!/usr/bin/env node
/**
 * Asks a real kube-apiserver again what the recordings of packages/apimachinery hold.
 * Usage: node tools/record-objects/record.mjs [--check] [name ...]
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { findBinaries, startControlPlane } from "../record-openapi/control-plane.mjs";
import { defaultRbac } from "./default-rbac.mjs";
import { expressions } from "./expressions.mjs";
import { objectMeta } from "./object-meta.mjs";
import { protobuf } from "./protobuf.mjs";
import { crds, formats, refusals, rules, updates, values } from "./schemas.mjs";
import { stories } from "./stories.mjs";
import { strategic } from "./strategic.mjs";

/** Each: the file it makes, what makes it (given what the file held), and what of it is the same each time. */
const RECORDINGS = {
  crds,
  refusals,
  rules,
  expressions,
  updates,
  values,
  formats,
  objectMeta,
  stories,
  strategic,
  protobuf,
  defaultRbac,
};
const root = new URL("../../packages/apimachinery/", import.meta.url);

const args = process.argv.slice(2);
const check = args.includes("--check");
const names = args.filter((arg) => arg !== "--check");
const unknown = names.filter((name) => !(name in RECORDINGS));
if (unknown.length > 0) {
  console.error(`no recording ${unknown.join(", ")}; there are ${Object.keys(RECORDINGS).join(", ")}`);
  process.exit(2);
}

const load = (file) => JSON.parse(readFileSync(new URL(file, root), "utf8"));
/** As the file will hold it: without what JSON leaves out. */
const plain = (value) => JSON.parse(JSON.stringify(value));

const plane = await startControlPlane(findBinaries());
let different = 0;
try {
  for (const name of names.length > 0 ? names : Object.keys(RECORDINGS)) {
    const { file, record, comparable = (value) => value } = RECORDINGS[name];
    const before = existsSync(new URL(file, root)) ? load(file) : undefined;
    const now = plain(await record({ call: plane.call, before, load }));
    const same = before !== undefined && isDeepStrictEqual(comparable(now), comparable(before));
    console.log(`${same ? "same     " : "DIFFERENT"} ${file}`);
    if (same) continue;
    different++;
    const target = fileURLToPath(new URL(check ? `${file}.now` : file, root));
    writeFileSync(target, `${JSON.stringify(now, undefined, 1)}\n`);
    if (check) console.log(`          see ${target}`);
    else spawnSync("npx", ["--no-install", "biome", "format", "--write", target], { stdio: "ignore" });
  }
} finally {
  await plane.stop();
}
process.exit(check && different > 0 ? 1 : 0);
