import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new temporary folder that names its owner's process; those of owners that were killed are removed on the way. */
export function temporaryDir(): string {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^capstan-real-kubernetes-(\d+)-/.exec(name)?.[1];
    if (owner !== undefined && !existsSync(`/proc/${owner}`))
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  return mkdtempSync(join(tmpdir(), `capstan-real-kubernetes-${process.pid}-`));
}
