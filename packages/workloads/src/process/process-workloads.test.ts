import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "@capstan/apimachinery";
import { processIdentity } from "@capstan/os";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Program, ProgramState } from "../types.ts";
import { PortAllocator } from "./ports.ts";
import { ProcessWorkloads } from "./process-workloads.ts";

// Real processes need the real clock: these tests wait for events of theirs, never for time.
let root: string;
let workloads: ProcessWorkloads;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-workloads-"));
  workloads = new ProcessWorkloads({ root, clock: systemClock });
});

afterEach(async () => {
  await workloads.stopAll(() => 0);
  await rm(root, { recursive: true, force: true });
});

const id = { owner: "default/c1", name: "web" };

function web(port: number, extra: Partial<Program> = {}): Program {
  const code = `require("http").createServer((q, r) => r.end("ok")).listen(${port}, "127.0.0.1")`;
  return { id, command: process.execPath, args: ["-e", code], probe: { url: `http://127.0.0.1:${port}/` }, ...extra };
}

/** Resolves with the first state that satisfies `wanted`. */
function until(where: ProcessWorkloads, wanted: (state: ProgramState) => boolean): Promise<ProgramState> {
  return new Promise((resolve) => {
    const look = async (): Promise<void> => {
      const state = (await where.list(id.owner)).find((s) => s.id.name === id.name);
      if (state === undefined || !wanted(state)) return;
      unsubscribe();
      resolve(state);
    };
    const unsubscribe = where.subscribe(() => void look());
    void look();
  });
}

const port = async (): Promise<number> =>
  (await new PortAllocator(root).allocate(id.owner, ["web"], "127.0.0.1"))["web"] ?? 0;

test("a program becomes Ready when its probe answers, and its files are its own", async () => {
  await workloads.ensure(web(await port(), { secretFiles: { "pki/ca.key": "secret" } }));
  const state = await until(workloads, (s) => s.phase === "Ready");
  expect(state.pid).toBeGreaterThan(0);
  const key = join(root, "default/c1/web/files/pki/ca.key");
  expect(await readFile(key, "utf8")).toBe("secret");
  expect((await stat(key)).mode & 0o777).toBe(0o600);
});

test("ensure is safe to repeat: the same description keeps the process, another one replaces it", async () => {
  const program = web(await port());
  await workloads.ensure(program);
  const first = await until(workloads, (s) => s.phase === "Ready");
  expect((await workloads.ensure(program)).pid).toBe(first.pid);
  await workloads.ensure({ ...program, env: { CHANGED: "yes" } });
  const second = await until(workloads, (s) => s.phase === "Ready" && s.pid !== first.pid);
  expect(processIdentity(first.pid ?? 0)).toBeUndefined();
  expect(second.restarts).toBe(0);
});

test("programs stop rank by rank, whoever they belong to: some need those of another owner to the last", async () => {
  const order: string[] = [];
  const program = (owner: string, name: string): Program => ({
    id: { owner, name },
    command: "/bin/sh",
    args: ["-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done"],
  });
  const all = [program("default/c1", "api"), program("shared/etcd", "etcd"), program("default/c2", "api")];
  for (const each of all) await workloads.ensure(each);
  workloads.subscribe(({ owner, name }) => order.push(`${owner}/${name}`));
  await workloads.stopAll(({ name }) => (name === "etcd" ? 2 : 1));
  expect(order.filter((each, index) => order.indexOf(each) === index).at(-1)).toBe("shared/etcd/etcd");
});

test("a killed program is started again and the restart is counted", async () => {
  await workloads.ensure(web(await port()));
  const first = await until(workloads, (s) => s.phase === "Ready");
  process.kill(first.pid ?? 0, "SIGKILL");
  const second = await until(workloads, (s) => s.phase === "Ready" && s.pid !== first.pid);
  expect(second.restarts).toBe(1);
});

test("a program that ends at once says why, in its own words, and backs off", async () => {
  await workloads.ensure({
    id,
    command: "/bin/sh",
    args: ["-c", "echo 'Error: unknown flag: --nonsense' >&2; exit 1"],
  });
  const state = await until(workloads, (s) => s.phase === "Failed" && s.restarts >= 2);
  expect(state.message).toContain("Error: unknown flag: --nonsense");
  expect(state.message).toMatch(/starting again in [\d.]+ s/);
});

test.each([
  ["missing", undefined, 0, "ENOENT"],
  ["not executable", "#!/bin/sh\n", 0o600, "EACCES"],
  ["of an interpreter that is missing", "#!/nowhere/sh\n", 0o700, "ENOENT"],
])("a program that is %s is a state, not an exception, and each try counts", async (_what, content, mode, why) => {
  const command = join(root, "kube-apiserver");
  if (content !== undefined) await writeFile(command, content, { mode });
  await workloads.ensure({ id, command, args: [] });
  const state = await until(workloads, (s) => s.phase === "Failed" && s.restarts >= 3);
  expect(state.message).toContain(`cannot start ${command}, trying again in `);
  expect(state.message).toContain(why);
});

test("what keeps us from starting a program is not its own failure", async () => {
  const evil = { id, command: "/bin/true", args: [], secretFiles: { "../../evil": "x" } };
  await workloads.ensure(evil);
  const state = await until(workloads, (s) => s.phase === "Failed");
  expect(state.restarts).toBe(0);
});

test("a new manager adopts what an earlier one started, and notices when it ends", async () => {
  const program = web(await port());
  await workloads.ensure(program);
  const first = await until(workloads, (s) => s.phase === "Ready");
  workloads.release();

  workloads = new ProcessWorkloads({ root, clock: systemClock });
  expect(await workloads.adoptAll()).toEqual([id]);
  const adopted = await until(workloads, (s) => s.phase === "Ready");
  expect(adopted.pid).toBe(first.pid);
  expect((await workloads.ensure(program)).pid).toBe(first.pid);

  process.kill(first.pid ?? 0, "SIGKILL");
  await until(workloads, (s) => s.phase === "Ready" && s.pid !== first.pid);
});

test.each([
  ["of an earlier version is adopted", { bootId: undefined }, true],
  ["from before a reboot is another process, and is left alone", { bootId: "another" }, false],
  ["whose pid a later process has is left alone", { startTime: 1 }, false],
])("a record %s", async (_, change, same) => {
  await workloads.ensure(web(await port()));
  const { pid = 0 } = await until(workloads, (s) => s.phase === "Ready");
  workloads.release();
  const file = join(root, id.owner, id.name, "process.json");
  const record = JSON.parse(await readFile(file, "utf8")) as object;
  await writeFile(file, JSON.stringify({ ...record, ...change }));

  workloads = new ProcessWorkloads({ root, clock: systemClock });
  expect(await workloads.adoptAll()).toEqual(same ? [id] : []);
  await workloads.remove(id);
  expect(processIdentity(pid) === undefined).toBe(same);
  if (!same) process.kill(pid, "SIGKILL");
});

test("a program that ends before a new manager has described it again keeps its files", async () => {
  const program = web(await port(), { secretFiles: { "ca.key": "secret" } });
  await workloads.ensure(program);
  const first = await until(workloads, (s) => s.phase === "Ready");
  workloads.release();

  workloads = new ProcessWorkloads({ root, clock: systemClock });
  await workloads.adoptAll();
  process.kill(first.pid ?? 0, "SIGKILL");
  const second = await until(workloads, (s) => s.phase === "Ready" && s.pid !== first.pid);
  expect(await readFile(join(root, "default/c1/web/files/ca.key"), "utf8")).toBe("secret");
  expect((await workloads.ensure(program)).pid).toBe(second.pid);
});

test("a file that the program reads again by itself is replaced without a restart", async () => {
  const program = web(await port(), {
    secretFiles: { "tls.crt": "old", "sa.key": "k" },
    reloadedFiles: ["tls.crt"],
  });
  await workloads.ensure(program);
  const first = await until(workloads, (s) => s.phase === "Ready");
  await workloads.ensure({ ...program, secretFiles: { "tls.crt": "new", "sa.key": "k" } });
  expect(await readFile(join(root, "default/c1/web/files/tls.crt"), "utf8")).toBe("new");
  expect((await until(workloads, (s) => s.phase === "Ready")).pid).toBe(first.pid);
  await workloads.ensure({ ...program, secretFiles: { "tls.crt": "new", "sa.key": "other" } });
  await until(workloads, (s) => s.phase === "Ready" && s.pid !== first.pid);
});

test("remove stops the process and leaves nothing", async () => {
  await workloads.ensure(web(await port()));
  const state = await until(workloads, (s) => s.phase === "Ready");
  await workloads.remove(id);
  expect(processIdentity(state.pid ?? 0)).toBeUndefined();
  await workloads.removeOwner(id.owner);
  expect(await readdir(join(root, "default"))).toEqual([]);
});

test("what a program has started and left behind does not keep it from being stopped", async () => {
  // Its own clock runs a hundred times as fast: what is waited for takes twenty seconds.
  const hasty: Clock = { ...systemClock, after: (ms, run) => systemClock.after(ms / 100, run) };
  const own = new ProcessWorkloads({ root, clock: hasty });
  const script = `setsid sh -c 'echo $$ > "$0/child"; exec sleep 600' "$1" & wait`;
  await own.ensure({ id, command: "/bin/sh", args: ["-c", script, "sh", "$DATA"], dataDir: true });
  const file = join(root, "default/c1/web/data/child");
  let child = 0;
  while (child === 0) child = Number(await readFile(file, "utf8").catch(() => ""));
  const pid = (await own.list(id.owner))[0]?.pid ?? 0;
  await own.stop(id);
  expect(processIdentity(pid)).toBeUndefined();
  process.kill(child, "SIGKILL");
});

test("ports are remembered and never given to two owners", async () => {
  const ports = new PortAllocator(root);
  const [a, b] = await Promise.all([
    ports.allocate("default/a", ["api", "etcd"], "127.0.0.1"),
    ports.allocate("default/b", ["api", "etcd"], "127.0.0.1"),
  ]);
  expect(new Set([...Object.values(a), ...Object.values(b)]).size).toBe(4);
  expect(await new PortAllocator(root).allocate("default/a", ["api", "etcd"], "127.0.0.1")).toEqual(a);
});

test("names that would leave the folder are refused", async () => {
  await expect(async () =>
    workloads.ensure({ id: { owner: "../x", name: "a" }, command: "x", args: [] }),
  ).rejects.toThrow();
  const evil = { id, command: "/bin/true", args: [], secretFiles: { "../../evil": "x" } };
  expect((await workloads.ensure(evil)).message).toContain("leaves the folder");
});

test("whether a description is what runs can be asked without a restart; reloaded files do not count", async () => {
  const program = web(await port(), { secretFiles: { a: "1", b: "1" }, reloadedFiles: ["b"] });
  expect(await workloads.matches(program)).toBeUndefined();
  await workloads.ensure(program);
  expect(await workloads.matches({ ...program, secretFiles: { a: "1", b: "2" } })).toBe(true);
  expect(await workloads.matches({ ...program, secretFiles: { a: "2", b: "1" } })).toBe(false);
  const later = new ProcessWorkloads({ root, clock: systemClock });
  expect(await later.matches(program), "by another manager too").toBe(true);
  later.release();
});

test("a program whose data is gone is not started on nothing, and is when it is back", async () => {
  const program = web(await port(), { dataDir: true, requires: "$DATA/member" });
  const state = await workloads.ensure(program);
  expect(state.phase).toBe("Failed");
  expect(state.message).toContain("data/member is missing; refusing to start from an empty data directory");
  await mkdir(join(root, "default/c1/web/data/member"), { recursive: true });
  expect((await until(workloads, (s) => s.phase === "Ready")).pid).toBeGreaterThan(0);
});
