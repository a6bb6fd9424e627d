import { createHash } from "node:crypto";
import { chmod, chown, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { Program } from "../types.ts";
import type { ProgramPaths } from "./layout.ts";

/** Identifies a description: when it changes, the program must be started anew. */
export function programHash(program: Program): string {
  const { id: _id, ...rest } = program;
  return createHash("sha256").update(JSON.stringify(rest, sortedKeys)).digest("hex");
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** `$FILES` and `$DATA` in arguments and environment stand for the program's own folders. */
export function expand(text: string, paths: ProgramPaths): string {
  return text.replaceAll("$FILES", paths.files).replaceAll("$DATA", paths.data);
}

/** Makes the folders and writes the files, readable by the program's user alone; removes files that are no longer wanted. */
export async function writeProgramFiles(program: Program, paths: ProgramPaths): Promise<void> {
  await mkdir(paths.dir, { recursive: true, mode: 0o700 });
  await mkdir(paths.files, { recursive: true, mode: 0o700 });
  if (program.dataDir === true) await mkdir(paths.data, { recursive: true, mode: 0o700 });
  const wanted = new Set<string>();
  for (const [name, content] of Object.entries(program.secretFiles ?? {})) {
    const path = join(paths.files, name);
    if (relative(paths.files, path).startsWith(".."))
      throw new Error(`file name ${JSON.stringify(name)} leaves the folder`);
    wanted.add(path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, content, { mode: 0o600 });
    await chmod(path, 0o600);
  }
  for (const entry of await readdir(paths.files, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !wanted.has(path)) await rm(path, { force: true });
  }
  if (program.uid !== undefined) await giveTo(paths, program.uid);
}

/** The program's user must be able to walk down to its folders, and nobody else must read them. */
async function giveTo(paths: ProgramPaths, uid: number): Promise<void> {
  for (const folder of [paths.dir, paths.files, paths.data]) {
    const entries = await readdir(folder, { recursive: folder === paths.files, withFileTypes: true }).catch(
      () => undefined,
    );
    if (entries === undefined) continue;
    await chown(folder, uid, uid);
    if (folder === paths.files)
      for (const entry of entries) await chown([entry.parentPath, entry.name].join(sep), uid, uid);
  }
}
