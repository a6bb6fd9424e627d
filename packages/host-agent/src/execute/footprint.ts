import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { chmod, chown, copyFile, lstat, mkdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { appendFileDurableSync, copyDurable } from "@capstan/os";
import { removeEtcdData } from "./etcd-member.ts";
import type { NetworkBefore } from "./pod-network.ts";
import type { RunCommand } from "./run-command.ts";

/** One thing that a machine changed on the host, so that it can be undone. */
type Change =
  | { type: "file"; path: string; backup?: string; mode?: number; uid?: number; gid?: number }
  | { type: "folder"; path: string }
  | { type: "user"; name: string }
  | { type: "mount"; target: string }
  | { type: "contents"; path: string }
  | { type: "unit"; name: string };

/** What was on the host before a Machine claimed it, all of which must remain after its release. */
export interface Before extends NetworkBefore {
  images: string[];
  cniFiles: string[];
  /** When it was looked at, in milliseconds since the epoch; earlier versions did not record it. */
  atMs?: number | undefined;
}

/** Records everything that a Machine changes on a host before it changes it, so that releasing the host can revert it. */
export class Footprint {
  readonly #file: string;
  readonly #backups: string;
  readonly #root: string;
  readonly #changes: Change[] = [];
  #before: Before | undefined;

  /** `root` is the folder that stands for `/` in tests. */
  constructor(stateDir: string, root = "") {
    this.#file = join(stateDir, "footprint.jsonl");
    this.#backups = join(stateDir, "backup");
    this.#root = root;
    for (const line of linesOf(this.#file)) {
      const entry = parsed(line);
      if (entry === undefined) continue;
      if ("before" in entry) this.#before = entry.before;
      else this.#changes.push(entry);
    }
  }

  get before(): Before | undefined {
    return this.#before;
  }

  /** Records what exists before anything is changed; only the first record counts. */
  noteBefore(before: Before): void {
    if (this.#before !== undefined) return;
    this.#before = before;
    this.#append({ before });
  }

  /** Must be called before a file is written; keeps its current content. */
  async willWrite(path: string): Promise<void> {
    if (this.#changes.some((change) => change.type === "file" && change.path === path)) return;
    await this.willMakeFolder(dirname(path));
    const there = await stat(`${this.#root}${path}`).catch(() => undefined);
    if (there === undefined || !there.isFile()) return this.#note({ type: "file", path });
    mkdirSync(this.#backups, { recursive: true, mode: 0o700 });
    const backup = join(this.#backups, String(this.#changes.length));
    // Left by an agent that was killed before it recorded the change.
    await rm(backup, { force: true });
    await copyDurable(`${this.#root}${path}`, backup);
    await chmod(backup, 0o600);
    this.#note({ type: "file", path, backup, mode: there.mode & 0o7777, uid: there.uid, gid: there.gid });
  }

  /** Must be called before a folder is created; includes its missing parents. */
  async willMakeFolder(path: string): Promise<void> {
    const missing: string[] = [];
    for (let folder = path; folder !== "/" && folder !== "."; folder = dirname(folder)) {
      if ((await lstat(`${this.#root}${folder}`).catch(() => undefined)) !== undefined) break;
      missing.unshift(folder);
    }
    for (const folder of missing) this.#note({ type: "folder", path: folder });
  }

  willMakeUser(name: string): void {
    this.#note({ type: "user", name });
  }

  willMount(target: string): void {
    this.#note({ type: "mount", target });
  }

  /** Must be called before etcd fills a folder. Its data are removed later, but the folder stays: it may be a mount point. */
  willFill(path: string): void {
    if (!this.#changes.some((change) => change.type === "contents" && change.path === path))
      this.#note({ type: "contents", path });
  }

  willEnable(name: string): void {
    this.#note({ type: "unit", name });
  }

  /** Reverts all changes, last one first, and clears the record. Returns what could not be reverted. */
  async undo(run: (command: string[]) => ReturnType<RunCommand>): Promise<string[]> {
    const problems: string[] = [];
    for (const change of [...this.#changes].reverse()) {
      const problem = await this.#undoOne(change, run).catch((error: unknown) => String(error));
      if (problem !== undefined) problems.push(problem);
    }
    if (problems.length > 0) return problems;
    this.#changes.length = 0;
    this.#before = undefined;
    rmSync(this.#file, { force: true });
    rmSync(this.#backups, { recursive: true, force: true });
    return [];
  }

  async #undoOne(change: Change, run: (command: string[]) => ReturnType<RunCommand>): Promise<string | undefined> {
    switch (change.type) {
      case "file":
        return await this.#putBack(change);
      case "folder":
        // Only if it is empty: files of other programs stay.
        await rmdir(`${this.#root}${change.path}`).catch(() => undefined);
        return undefined;
      case "user": {
        const { exitCode, output } = await run(["userdel", "--force", "--remove", change.name]);
        // 6: there is no such user; 12: no home to remove.
        return [0, 6, 12].includes(exitCode) ? undefined : `user ${change.name}: ${output.trim()}`;
      }
      case "mount":
        await run(["umount", "--lazy", change.target]);
        return undefined;
      case "contents":
        await removeEtcdData(change.path, this.#root, this.#before?.atMs);
        return undefined;
      case "unit":
        await run(["systemctl", "disable", change.name]);
        return undefined;
    }
  }

  async #putBack(change: Extract<Change, { type: "file" }>): Promise<undefined> {
    const path = `${this.#root}${change.path}`;
    if (change.backup === undefined) {
      await rm(path, { force: true, recursive: true });
      return;
    }
    // Another part of the cleaning may have taken its folder away.
    await mkdir(dirname(path), { recursive: true });
    await copyFile(change.backup, path);
    await chown(path, change.uid ?? 0, change.gid ?? 0);
    await chmod(path, change.mode ?? 0o644);
  }

  #note(change: Change): void {
    this.#changes.push(change);
    this.#append(change);
  }

  #append(entry: object): void {
    appendFileDurableSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** A line that is incomplete after a power failure is ignored: its change was not made yet. */
function parsed(line: string): Change | { before: Before } | undefined {
  try {
    return JSON.parse(line) as Change | { before: Before };
  } catch {
    return undefined;
  }
}
