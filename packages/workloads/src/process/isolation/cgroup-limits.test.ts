import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CgroupLimits, type OwnerLimits } from "./cgroup-limits.ts";

// A folder with the files of a hierarchy stands for the machine's: which kind of hierarchies it has cannot be chosen.
const MEMORY = 2 ** 30;
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-cgroups-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const mount = (point: string, type: string, options: string): string =>
  `30 20 0:30 / ${join(dir, point)} rw shared:1 - ${type} ${type} ${options}`;

const clock = new VirtualClock();

async function open(mounts: string[], own: string[], limits: Partial<OwnerLimits> = {}): Promise<CgroupLimits> {
  await writeFile(join(dir, "mountinfo"), mounts.join("\n"));
  await writeFile(join(dir, "cgroup"), own.join("\n"));
  return await CgroupLimits.open("/data", { memoryBytes: MEMORY, processes: 100, ...limits }, clock, dir);
}

async function filesOf(group: string): Promise<Record<string, string>> {
  const names = await readdir(group);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(group, name), "utf8")])),
  );
}

async function unified(controllers: string): Promise<void> {
  await mkdir(join(dir, "v2"));
  await writeFile(join(dir, "v2/cgroup.controllers"), controllers);
}

test("v1: a group below the manager's own in the hierarchy of each controller", async () => {
  const mounts = [
    mount("memory", "cgroup", "rw,memory"),
    mount("cpu", "cgroup", "rw,cpu,cpuacct"),
    mount("pids", "cgroup", "rw,pids"),
  ];
  const own = ["3:memory:/manager.service", "2:cpu,cpuacct:/", "1:pids:/manager.service"];
  const limits = await open(mounts, own, { cpus: 1.5 });
  const { groups, problems } = await limits.ensure("team-a/one");
  expect(problems).toEqual([]);
  expect(groups.map((group) => group.slice(dir.length))).toEqual([
    expect.stringMatching(/^\/memory\/manager\.service\/capstan-[0-9a-f]{12}\/team-a_one$/),
    expect.stringMatching(/^\/cpu\/capstan-[0-9a-f]{12}\/team-a_one$/),
    expect.stringMatching(/^\/pids\/manager\.service\/capstan-[0-9a-f]{12}\/team-a_one$/),
  ]);
  const [memory = "", cpu = "", pids = ""] = groups;
  expect(await filesOf(memory)).toEqual({
    "memory.limit_in_bytes": String(MEMORY),
    "memory.memsw.limit_in_bytes": String(MEMORY),
  });
  expect(await filesOf(cpu)).toEqual({ "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "150000" });
  expect(await filesOf(pids)).toEqual({ "pids.max": "100" });
});

test("v2: one group at the top, with the controllers enabled above it", async () => {
  await unified("cpuset cpu io memory pids");
  const limits = await open([mount("v2", "cgroup2", "rw")], ["0::/user.slice/session-1.scope"]);
  const { groups, problems } = await limits.ensure("team-a/one");
  expect(problems).toEqual([]);
  expect(groups).toEqual([expect.stringMatching(/\/v2\/capstan-[0-9a-f]{12}\/team-a_one$/)]);
  expect(await filesOf(groups[0] ?? "")).toEqual({
    "memory.max": String(MEMORY),
    "memory.swap.max": "0",
    "cpu.max": "max 100000",
    "pids.max": "100",
  });
  for (const above of [join(dir, "v2"), join(groups[0] ?? "", "..")])
    expect(await readFile(join(above, "cgroup.subtree_control"), "utf8")).toContain("+pids");
});

test("v1 and v2 side by side: each controller where it is", async () => {
  await unified("pids");
  const limits = await open(
    [mount("memory", "cgroup", "rw,memory"), mount("v2", "cgroup2", "rw")],
    ["1:memory:/", "0::/"],
  );
  const { groups, problems } = await limits.ensure("team-a/one");
  expect(groups.map((group) => group.slice(dir.length).split("/")[1])).toEqual(["memory", "v2"]);
  expect(problems).toEqual(["the machine has no cgroup controller cpu"]);
});

test("a hierarchy that cannot be written to is a problem, and the other limits hold", async () => {
  await writeFile(join(dir, "memory"), "not a directory");
  const limits = await open(
    [mount("memory", "cgroup", "rw,memory"), mount("pids", "cgroup", "rw,pids"), mount("cpu", "cgroup", "rw,cpu")],
    ["3:memory:/", "2:cpu:/", "1:pids:/"],
  );
  const { groups, problems } = await limits.ensure("team-a/one");
  expect(groups).toHaveLength(2);
  expect(problems).toEqual([expect.stringMatching(/^cgroup .*team-a_one: E/)]);
});

test.each([
  ["v1", () => mount("pids", "cgroup", "rw,pids"), "1:pids:/"],
  ["v2", () => mount("v2", "cgroup2", "rw"), "0::/"],
])("%s: processes of a deleted owner can start no others while they are killed", async (version, mounted, own) => {
  if (version === "v2") await unified("pids");
  const limits = await open([mounted()], [own]);
  const { groups } = await limits.ensure("team-a/one");
  const [group = ""] = groups;
  await writeFile(join(group, "cgroup.kill"), "");
  let removed = false;
  // A folder with files cannot be removed, as a group with processes cannot.
  const removing = limits.remove("team-a/one", { kill: true }).finally(() => {
    removed = true;
  });
  while (!removed) await clock.advance(20);
  await removing;
  expect(await filesOf(group)).toMatchObject({ "pids.max": expect.stringMatching(/^0/), "cgroup.kill": "1" });
});
