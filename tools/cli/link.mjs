#!/usr/bin/env node
/** Makes `npx capstan` work in a fresh checkout: npm links commands when it installs, and this one is built only afterwards. Part of the build. */
import { chmodSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = join(root, "packages/cli/dist/main.js");
chmodSync(program, 0o755);
for (const name of ["capstan", "kubectl-capstan"]) {
  const link = join(root, "node_modules/.bin", name);
  if (existsSync(link) || process.platform === "win32") continue;
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(relative(dirname(link), program), link);
}
