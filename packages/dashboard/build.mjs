#!/usr/bin/env node
/** Builds the dashboard into dist/ unless it is up to date; part of `npm run build`. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const stamp = join(here, "dist", ".sources");
const hash = createHash("sha256");
// The dashboard uses only types and a few small functions of other packages.
const files = ["index.html", "package.json", "vite.config.ts", "../apimachinery/dist/age.js"].map((f) => join(here, f));
for (const folder of ["src", "public", "../capi/dist/explain"])
  for (const entry of readdirSync(join(here, folder), { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !/\.(map|d\.ts|test\.ts)$/.test(entry.name)) files.push(join(entry.parentPath, entry.name));
for (const file of files.sort()) hash.update(file).update(readFileSync(file));
const sources = hash.digest("hex");

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== sources) {
  const { build } = await import("vite");
  await build({ root: here, logLevel: "error" });
  writeFileSync(stamp, sources);
}
