import { join } from "node:path";
import type { ProgramId } from "../types.ts";

/** Paths of a program's files below the root: `<root>/NAMESPACE/NAME/<program>/…`. */
export interface ProgramPaths {
  dir: string;
  files: string;
  data: string;
  log: string;
  /** The record of the running process, so that a new manager can adopt it. */
  record: string;
  /** A named pipe whose write end the program holds: end of file on it means that the program has exited. */
  alive: string;
}

const PART = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Returns the folder of an owner; throws for names that would lead out of the root. */
export function ownerDir(root: string, owner: string): string {
  const parts = owner.split("/");
  if (parts.length === 0 || parts.some((part) => !PART.test(part)))
    throw new Error(`owner ${JSON.stringify(owner)} is not NAMESPACE/NAME of plain names`);
  return join(root, ...parts);
}

/** Returns the paths of a program's files; throws for names that would lead out of the owner's folder. */
export function programPaths(root: string, id: ProgramId): ProgramPaths {
  if (!PART.test(id.name)) throw new Error(`program name ${JSON.stringify(id.name)} is not a plain name`);
  const dir = join(ownerDir(root, id.owner), id.name);
  return {
    dir,
    files: join(dir, "files"),
    data: join(dir, "data"),
    log: join(dir, `${id.name}.log`),
    record: join(dir, "process.json"),
    alive: join(dir, "alive"),
  };
}
