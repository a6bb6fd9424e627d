#!/usr/bin/env node
/** Makes the host agent one file: `dist/agent/capstan-host-agent.cjs`, to be run by any Node 20. Run after the build. */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const outfile = `${root}dist/agent/capstan-host-agent.cjs`;
mkdirSync(`${root}dist/agent`, { recursive: true });
const result = await build({
  entryPoints: [`${root}packages/host-agent/dist/main.js`],
  outfile,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  minify: true,
  legalComments: "none",
  metafile: true,
});
const [output] = Object.values(result.metafile.outputs);
console.log(`${outfile} (${Math.round((output?.bytes ?? 0) / 1024)} KiB)`);
