#!/usr/bin/env node
/**
 * Makes the command a package of its own in `dist/capstan`: few files that start at once, with the dashboard's page when that is built.
 * `npm publish`, `npm pack` and `npm install -g` take that folder as it is; lmdb, which brings native code, is its only dependency. Run
 * after the build.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, manifest } from "../bundle/bundle.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const outdir = join(root, "dist/capstan");

rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
const result = await bundle({ capstan: join(root, "packages/cli/dist/main.js") }, outdir);

const { name, version, description, license, engines } = manifest("packages/cli");
const lmdb = manifest("packages/apiserver").dependencies.lmdb;
writeFileSync(
  join(outdir, "package.json"),
  `${JSON.stringify(
    {
      name,
      version,
      description,
      license,
      type: "module",
      engines,
      bin: { capstan: "capstan.js", "kubectl-capstan": "capstan.js" },
      dependencies: { lmdb },
    },
    null,
    2,
  )}\n`,
);
for (const file of ["README.md", "LICENSE"]) copyFileSync(join(root, file), join(outdir, file));
const page = join(root, "packages/dashboard/dist");
if (existsSync(join(page, "index.html"))) cpSync(page, join(outdir, "dashboard"), { recursive: true });
const bytes = Object.keys(result.metafile.outputs).reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
console.log(`${outdir} (${Math.round(bytes / 1024)} KiB of programs)`);
