import { createHash } from "node:crypto";
import { chmod, chown, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { giveAll, writeFileAtomic } from "@capstan/os";
import type { Program } from "../types.ts";
import type { ProgramPaths } from "./layout.ts";

/** Hashes a program's description; a changed hash means that the program must be restarted. */
export function programHash(program: Program): string {
  const { id: _id, secretFiles, reloadedFiles, requires: _requires, probe: described, ...others } = program;
  const { checkedOnce: _checkedOnce, ...probe } = described ?? {};
  const rest = { ...others, ...(described === undefined ? {} : { probe }) };
  const reloaded = new Set(reloadedFiles);
  const fixed = Object.fromEntries(Object.entries(secretFiles ?? {}).filter(([name]) => !reloaded.has(name)));
  const names = Object.keys(secretFiles ?? {});
  return digest({ ...rest, ...(secretFiles === undefined ? {} : { secretFiles: fixed, names: names.toSorted() }) });
}

/** Hashes the contents of all files of a program, including those that it reloads without a restart. */
export function filesHash(program: Program): string {
  return digest(program.secretFiles ?? {});
}

function digest(value: object): string {
  return createHash("sha256").update(JSON.stringify(value, sortedKeys)).digest("hex");
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** How a program with a user id of its own names its folder: folders above it may be closed to it, its working directory is not. */
const OWN_FOLDER = "/proc/self/cwd";

/** Expands `$FILES` and `$DATA` in arguments, environment and kubeconfigs to the program's own folders. */
export function expand(text: string, program: Program, paths: ProgramPaths): string {
  const [files, data] =
    program.uid === undefined ? [paths.files, paths.data] : [`${OWN_FOLDER}/files`, `${OWN_FOLDER}/data`];
  return text.replaceAll("$FILES", files).replaceAll("$DATA", data);
}

/** Returns the HOME directory of a program. */
export function homeOf(program: Program, paths: ProgramPaths): string {
  return program.uid === undefined ? paths.dir : OWN_FOLDER;
}

/**
 * Creates the folders, writes the files and removes those no longer wanted. With its own user ID the program can only read its files and
 * write its data folder; nothing that the manager accesses as root is writable by it.
 */
export async function writeProgramFiles(program: Program, paths: ProgramPaths): Promise<void> {
  const { uid } = program;
  const group = uid === undefined ? undefined : { gid: uid };
  await folder(paths.dir, 0o700, group, 0o710);
  await folder(paths.files, 0o700, group, 0o750);
  if (program.dataDir === true) {
    await folder(paths.data, 0o700);
    // Data that came from elsewhere (a restored snapshot, an earlier user id) becomes the program's own.
    if (uid !== undefined) await giveAll(paths.data, uid);
  }
  const wanted = new Map<string, string>();
  for (const [name, content] of Object.entries(program.secretFiles ?? {})) {
    const path = join(paths.files, name);
    if (relative(paths.files, path).startsWith(".."))
      throw new Error(`file name ${JSON.stringify(name)} leaves the folder`);
    wanted.set(path, content);
  }
  for (const dir of new Set([...wanted.keys()].map((path) => dirname(path))))
    if (dir !== paths.files) await folder(dir, 0o700, group, 0o750);
  await Promise.all([...wanted].map(([path, content]) => replaceFile(path, content, uid)));
  for (const entry of await readdir(paths.files, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !wanted.has(path)) await rm(path, { force: true });
  }
}

async function folder(path: string, mode: number, group?: { gid: number }, groupMode?: number): Promise<void> {
  await mkdir(path, { recursive: true, mode });
  if (group === undefined) return;
  await chown(path, process.getuid?.() ?? 0, group.gid);
  await chmod(path, groupMode ?? mode);
}

/** In one step, so that a program that reads the file again never sees half of it. */
async function replaceFile(path: string, content: string, uid: number | undefined): Promise<void> {
  if (uid === undefined) await writeFileAtomic(path, content);
  else await writeFileAtomic(path, content, { mode: 0o640, owner: { uid: process.getuid?.() ?? 0, gid: uid } });
}
