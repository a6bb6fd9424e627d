import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository: this file runs from its source and from its build. */
export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(dir: string): string {
  return existsSync(join(dir, "package-lock.json")) ? dir : findRoot(dirname(dir));
}
