#!/usr/bin/env node
import { runProgram } from "./program.ts";

process.exitCode = await runProgram(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  env: process.env,
  interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
});
