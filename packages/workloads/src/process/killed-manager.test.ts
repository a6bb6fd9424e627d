import { spawn } from "node:child_process";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { processGroup } from "@capstan/os";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Program, ProgramState } from "../types.ts";
import { ProcessWorkloads } from "./process-workloads.ts";

/**
 * A manager in a process of its own, killed before or after the n-th thing it does to files or processes. It is built code:
 * `npm test` builds first.
 */
const MANAGER = `
import fs from "node:fs/promises";
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
const [package_, root, program, fatal, verb] = process.argv.slice(1);
let done = 0;
const tick = () => { if (++done === Number(fatal)) process.kill(process.pid, "SIGKILL"); };
for (const name of ["writeFile", "rename", "rm", "open", "mkdir", "chmod", "chown"]) {
  const real = fs[name];
  fs[name] = async (...args) => { tick(); const result = await real(...args); tick(); return result; };
}
const { spawn } = childProcess;
childProcess.spawn = (...args) => { tick(); const child = spawn(...args); tick(); return child; };
syncBuiltinESMExports();
const { ProcessWorkloads } = await import(package_);
const clock = { now: () => Date.now(), after: (ms, fire) => { const t = setTimeout(fire, ms); return () => clearTimeout(t); } };
const workloads = new ProcessWorkloads({ root, clock });
await workloads[verb](JSON.parse(program));
process.exit(0);
`;

const id = { owner: "default/c1", name: "sleeper" };
const sleeper = (text: string): Program => ({
  id,
  command: "/bin/sh",
  args: ["-c", `sleep 600; # ${text}`],
  secretFiles: { "a.key": "secret" },
  dataDir: true,
});
const BUILT = new URL("../../dist/process/process-workloads.js", import.meta.url).href;
let root: string;
let workloads: ProcessWorkloads;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-killed-"));
  workloads = new ProcessWorkloads({ root, clock: systemClock });
});

afterEach(async () => {
  await workloads.stopAll(() => 0);
  await rm(root, { recursive: true, force: true });
});

/** Whether the manager lived to the end of its work. */
async function manager(program: Program, fatal: number, verb = "ensure"): Promise<boolean> {
  const args = ["--input-type=module", "-e", MANAGER, BUILT, root, JSON.stringify(program), String(fatal), verb];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.once("exit", (...how) => resolve(how));
  });
  if (signal !== "SIGKILL") expect(code).toBe(0);
  return signal === null;
}

/** Processes started in the program's folder, without the children they may have. */
async function running(): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  const found: number[] = [];
  for (const pid of pids) {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
    if (cwd.startsWith(join(root, id.owner, id.name)) && processGroup(pid) === pid) found.push(pid);
  }
  return found;
}

/** The state once the process has become what it was started for. */
async function settled(state: ProgramState): Promise<number> {
  expect(["Starting", "Running", "Ready"]).toContain(state.phase);
  return state.pid ?? 0;
}

test("a manager killed at any point of a start leaves no process that the next one does not know, and none twice", async () => {
  const points: string[] = [];
  for (let fatal = 1; ; fatal++) {
    const lived = await manager(sleeper("first"), fatal);
    const orphans = await running();
    workloads = new ProcessWorkloads({ root, clock: systemClock });
    const adopted = await workloads.adoptAll();
    expect(adopted.length, `point ${fatal}: what runs is adopted`).toBe(orphans.length);
    const pid = await settled(await workloads.ensure(sleeper("first")));
    expect(await running(), `point ${fatal}: one process`).toEqual([pid]);
    if (orphans.length > 0) expect(orphans, `point ${fatal}: the running one continues`).toEqual([pid]);
    points.push(orphans.length === 0 ? "not started" : "adopted");
    await workloads.removeOwner(id.owner);
    expect(await running(), `point ${fatal}: none left`).toEqual([]);
    if (lived) break;
  }
  // The point in question was among them: a process, and no pid written down.
  expect(points.filter((point) => point === "adopted").length).toBeGreaterThan(3);
  expect(points.filter((point) => point === "not started").length).toBeGreaterThan(3);
}, 120_000);

test("a manager killed at any point of a change leaves one process, of what is wanted", async () => {
  for (let fatal = 1; ; fatal++) {
    await settled(await workloads.ensure(sleeper("old")));
    workloads.release();
    const lived = await manager(sleeper("new"), fatal);
    workloads = new ProcessWorkloads({ root, clock: systemClock });
    await workloads.adoptAll();
    const pid = await settled(await workloads.ensure(sleeper("new")));
    expect(await running(), `point ${fatal}`).toEqual([pid]);
    expect(await workloads.matches(sleeper("new"))).toBe(true);
    await workloads.removeOwner(id.owner);
    if (lived) break;
  }
}, 120_000);

test("a process whose record is gone is found by its pipe, and replaced rather than doubled", async () => {
  const pid = await settled(await workloads.ensure(sleeper("first")));
  workloads.release();
  await rm(join(root, id.owner, id.name, "process.json"));
  workloads = new ProcessWorkloads({ root, clock: systemClock });
  const other = await settled(await workloads.ensure(sleeper("first")));
  expect(other).not.toBe(pid);
  expect(await running()).toEqual([other]);
});
