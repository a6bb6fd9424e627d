#!/usr/bin/env node
/** Says what the first `npm start` of a checkout does before there is anything to see. */
import { existsSync } from "node:fs";

if (!existsSync(new URL("../../packages/cli/dist/main.js", import.meta.url)))
  console.error("Building Capstan from its sources, this once: up to a minute …");
