import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { type Clock, sleep } from "@capstan/apimachinery";
import { foldersOf, type Hierarchy, parseHierarchies } from "@capstan/os";

/** Limits on what all programs of one owner may use together. */
export interface OwnerLimits {
  memoryBytes: number;
  /** Threads count as processes. */
  processes: number;
  /** In CPUs. Without it all may be used; when they are contended, owners get equal shares. */
  cpus?: number;
}

/** Returns the default limits: half of the machine's memory, and several times the threads of the largest control plane. */
export function defaultLimits(): OwnerLimits {
  return { memoryBytes: Math.floor(totalmem() / 2), processes: 4096 };
}

const CONTROLLERS = ["memory", "cpu", "pids"] as const;
type Controller = (typeof CONTROLLERS)[number];
const PERIOD_US = 100_000;
/** A process that was killed leaves its group a moment after it has closed its files. */
const REMOVE_ATTEMPTS = 100;
const REMOVE_PAUSE_MS = 20;

interface Place {
  controller: Controller;
  unified: boolean;
  /** The folder in which groups of all owners of this root are created. */
  parent: string;
}

/** Manages one control group per owner, in cgroup v1 or v2, whichever the machine has for a controller. */
export class CgroupLimits {
  readonly #places: Place[];
  readonly #limits: OwnerLimits;
  readonly #clock: Clock;

  private constructor(places: Place[], limits: OwnerLimits, clock: Clock) {
    this.#places = places;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** `root` separates the groups of several managers on one machine; `proc` is this process's folder in /proc, another in tests. */
  static async open(root: string, limits: OwnerLimits, clock: Clock, proc = "/proc/self"): Promise<CgroupLimits> {
    const name = `capstan-${createHash("sha256").update(root).digest("hex").slice(0, 12)}`;
    const [mounts, own] = await Promise.all(
      ["mountinfo", "cgroup"].map((file) => readFile(join(proc, file), "utf8").catch(() => "")),
    );
    const hierarchies = parseHierarchies(mounts ?? "");
    const folders = foldersOf(hierarchies, own ?? "");
    const unified = hierarchies.find(({ controllers }) => controllers === "");
    const served = unified === undefined ? [] : await words(join(unified.mountPoint, "cgroup.controllers"));
    const places = CONTROLLERS.flatMap((controller): Place[] => {
      const v1 = hierarchies.find(({ controllers }) => controllers.split(",").includes(controller));
      // Below the manager's own group, so that limits that hold for the manager hold for what it starts.
      if (v1 !== undefined) return [{ controller, unified: false, parent: join(folderIn(folders, v1), name) }];
      // In v2 a group with processes, as the manager's is, cannot have groups with controllers below it.
      if (unified === undefined || !served.includes(controller)) return [];
      return [{ controller, unified: true, parent: join(unified.mountPoint, name) }];
    });
    return new CgroupLimits(places, limits, clock);
  }

  /** Creates the owner's groups with their limits. Returns the groups to join, and what cannot be limited and why. */
  async ensure(owner: string): Promise<{ groups: string[]; problems: string[] }> {
    const groups = new Set<string>();
    const problems: string[] = [];
    for (const controller of CONTROLLERS) {
      const place = this.#places.find((each) => each.controller === controller);
      if (place === undefined) {
        problems.push(`the machine has no cgroup controller ${controller}`);
        continue;
      }
      const group = join(place.parent, groupName(owner));
      try {
        if (place.unified) await delegate(place);
        await mkdir(group, { recursive: true });
        for (const [file, value] of settings(place, this.#limits)) await set(join(group, file), value);
        groups.add(group);
      } catch (error) {
        problems.push(`cgroup ${group}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return { groups: [...groups], problems };
  }

  /** Removes the owner's groups unless processes stay in them; with `kill` those are killed. */
  async remove(owner: string, options: { kill: boolean }): Promise<void> {
    const groups = [...new Set(this.#places.map(({ parent }) => join(parent, groupName(owner))))];
    if (options.kill) await Promise.all(groups.map(stopForks));
    for (const group of groups)
      for (let attempt = 0; attempt < REMOVE_ATTEMPTS && existsSync(group); attempt++) {
        const pids = await words(join(group, "cgroup.procs"));
        // What a program has started and left behind: it is killed when the owner is deleted.
        if (pids.length > 0 && !options.kill && attempt > 10) break;
        if (options.kill) for (const pid of pids) killNow(Number(pid));
        if (await removed(group)) {
          await removed(dirname(group));
          break;
        }
        await sleep(this.#clock, REMOVE_PAUSE_MS);
      }
  }
}

/** Names have no underscores, so that no two owners share a group. */
function groupName(owner: string): string {
  return owner.replaceAll("/", "_");
}

function folderIn(folders: Map<Hierarchy, string>, hierarchy: Hierarchy): string {
  return folders.get(hierarchy) ?? hierarchy.mountPoint;
}

function settings({ controller, unified }: Place, limits: OwnerLimits): [file: string, value: string][] {
  const memory = String(limits.memoryBytes);
  const quota = limits.cpus === undefined ? undefined : Math.max(1000, Math.floor(limits.cpus * PERIOD_US));
  switch (controller) {
    case "memory":
      // What is swapped out takes space from others too.
      return unified
        ? [
            ["memory.max", memory],
            ["memory.swap.max?", "0"],
          ]
        : [
            // One of both must be set first, depending on whether the limit grows or shrinks.
            ["memory.limit_in_bytes?", memory],
            ["memory.memsw.limit_in_bytes?", memory],
            ["memory.limit_in_bytes", memory],
          ];
    case "cpu":
      return unified
        ? [["cpu.max", `${quota ?? "max"} ${PERIOD_US}`]]
        : [
            ["cpu.cfs_period_us", String(PERIOD_US)],
            ["cpu.cfs_quota_us", String(quota ?? -1)],
          ];
    case "pids":
      return [["pids.max", String(limits.processes)]];
  }
}

/** A name that ends with a question mark is a file that may be missing or refuse the value. */
async function set(file: string, value: string): Promise<void> {
  if (file.endsWith("?")) return await writeFile(file.slice(0, -1), value).catch(() => undefined);
  await writeFile(file, value);
}

/** Processes that fork faster than their ids are read could escape for ever: none may start any more, in any of the hierarchies. */
async function stopForks(group: string): Promise<void> {
  for (const [file, value] of [
    ["pids.max", "0"],
    // v2, since Linux 5.14.
    ["cgroup.kill", "1"],
  ] as const)
    await writeFile(join(group, file), value, { flag: "r+" }).catch(() => undefined);
}

async function delegate({ controller, parent }: Place): Promise<void> {
  await mkdir(parent, { recursive: true });
  for (const folder of [dirname(parent), parent])
    if (!(await words(join(folder, "cgroup.subtree_control"))).includes(controller))
      await writeFile(join(folder, "cgroup.subtree_control"), `+${controller}`);
}

async function words(file: string): Promise<string[]> {
  return (await readFile(file, "utf8").catch(() => "")).split(/\s+/).filter((word) => word !== "");
}

async function removed(folder: string): Promise<boolean> {
  return await rmdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
}

function killNow(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, "SIGKILL");
  } catch {
    // It has exited in the meantime.
  }
}
