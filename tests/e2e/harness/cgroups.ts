import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { foldersOf, type Hierarchy, parseHierarchies } from "@capstan/os";
import { sleep } from "./timing.ts";

/** A node's cgroups: one folder in every hierarchy, which become the roots of its cgroup namespace. */
export class NodeCgroups {
  readonly #hierarchies: Hierarchy[];
  readonly #folders = new Map<Hierarchy, string>();

  constructor(name: string) {
    this.#hierarchies = parseHierarchies(readFileSync("/proc/self/mountinfo", "utf8"));
    const own = foldersOf(this.#hierarchies, readFileSync("/proc/self/cgroup", "utf8"));
    // In v2 a cgroup with processes cannot have children with controllers, so there the node hangs from the top.
    for (const [hierarchy, folder] of own)
      this.#folders.set(hierarchy, join(this.#unified ? hierarchy.mountPoint : folder, name));
  }

  /** Only v2, as on current distributions; a v2 hierarchy next to v1 ones has no controllers and is not shown to nodes. */
  get #unified(): boolean {
    return this.#hierarchies.every((hierarchy) => hierarchy.controllers === "");
  }

  /** Makes the folders. */
  create(): void {
    for (const [hierarchy, folder] of this.#folders) {
      if (this.#unified) delegateControllers(hierarchy.mountPoint);
      mkdirSync(folder, { recursive: true });
      if (hierarchy.controllers.split(",").includes("cpuset")) inheritCpuset(join(folder, ".."), folder);
    }
  }

  /** The folders that the node's first process must put itself into. */
  get folders(): string[] {
    return [...this.#folders.values()];
  }

  /** What node-init mounts below /sys/fs/cgroup: lines of `TYPE NAME OPTIONS`. */
  get mounts(): string {
    if (this.#unified) return "cgroup2 . rw";
    return this.#hierarchies
      .filter((hierarchy) => hierarchy.controllers !== "")
      .map(({ controllers }) =>
        controllers.startsWith("name=")
          ? `cgroup ${controllers.slice("name=".length)} none,${controllers}`
          : `cgroup ${controllers} ${controllers}`,
      )
      .join("\n");
  }

  /** The folders that a process of the node is in now, as seen from the machine. */
  foldersOfProcess(pid: number): string[] {
    return [...foldersOf(this.#hierarchies, readFileSync(`/proc/${pid}/cgroup`, "utf8")).values()];
  }

  /** Kills everything in the folders: for a node whose owner is gone and which should be gone too. */
  killProcesses(): void {
    for (const folder of this.folders) for (const pid of processesIn(folder)) killIfThere(pid);
  }

  /** Removes the folders, deepest first; processes that are just ending get a few seconds. */
  async remove(): Promise<void> {
    for (const folder of this.folders) {
      for (let attempt = 0; !removeTree(folder); attempt++) {
        if (attempt === 50) throw new Error(`${folder} still has processes in it`);
        await sleep(100);
      }
    }
  }
}

function inheritCpuset(parent: string, folder: string): void {
  for (const file of ["cpuset.cpus", "cpuset.mems"])
    writeFileSync(join(folder, file), readFileSync(join(parent, file), "utf8"));
  writeFileSync(join(folder, "cgroup.clone_children"), "1");
}

function delegateControllers(folder: string): void {
  const available = readFileSync(join(folder, "cgroup.controllers"), "utf8").trim().split(" ").filter(Boolean);
  for (const controller of available) writeFileSync(join(folder, "cgroup.subtree_control"), `+${controller}`);
}

function processesIn(folder: string): number[] {
  if (!existsSync(folder)) return [];
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const own = readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
  return [...own, ...below.flatMap((entry) => processesIn(join(folder, entry.name)))];
}

/** Kills a process that may have ended in the meantime. */
export function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Already gone.
  }
}

function removeTree(folder: string): boolean {
  if (!existsSync(folder)) return true;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && !removeTree(join(folder, entry.name))) return false;
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(folder);
  }
}
