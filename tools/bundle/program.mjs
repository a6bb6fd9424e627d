#!/usr/bin/env node
/** Bundles one built program as the product is bundled: `node tools/bundle/program.mjs PROGRAM.js FOLDER`. For benches. */
import { basename } from "node:path";
import { bundle } from "./bundle.mjs";

const [program, outdir] = process.argv.slice(2);
if (program === undefined || outdir === undefined) throw new Error("usage: program.mjs PROGRAM.js FOLDER");
await bundle({ [basename(program, ".js")]: program }, outdir);
