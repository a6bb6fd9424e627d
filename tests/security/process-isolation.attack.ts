import { existsSync } from "node:fs";
import { chmod, copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { ProcessWorkloads, UserIds } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";

// The attacker has code execution in a component of its own hosted control plane, on a machine that hosts other tenants. Needs root.
const WORLD_WRITABLE = ["/tmp", "/var/tmp", "/dev/shm"];
const MIB = 1024 * 1024;
let root: string;
let workloads: ProcessWorkloads;
let ids: UserIds;
let owners: string[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-attack-"));
  workloads = new ProcessWorkloads({
    root,
    clock: systemClock,
    limits: { memoryBytes: 128 * MIB, processes: 64 },
  });
  ids = new UserIds(root, join(root, "registry"));
  owners = [];
});

afterEach(async () => {
  for (const owner of owners) await remove(owner);
  await rm(root, { recursive: true, force: true });
  for (const dir of WORLD_WRITABLE) await rm(leftIn(dir), { force: true });
});

/** Named after this test's root, so that runs do not meet. */
const leftIn = (dir: string): string => join(dir, `left-${root.slice(-6)}`);

/** Starts a control plane's component that runs a script; what the script prints is in `outputOf`. */
async function create(owner: string, script: string): Promise<{ uid: number; pid: number }> {
  const uid = await ids.allocate(owner);
  owners.push(owner);
  await workloads.ensure({
    id: { owner, name: "component" },
    command: "/bin/sh",
    args: ["-c", `{ ${script}\n} > $0/out 2>&1; touch $0/done; exec sleep 600`, "$DATA"],
    secretFiles: { "ca.key": `key of ${owner}` },
    dataDir: true,
    uid,
  });
  const data = join(root, owner, "component/data");
  while (!existsSync(join(data, "done"))) await new Promise((resolve) => setImmediate(resolve));
  return { uid, pid: (await workloads.list(owner))[0]?.pid ?? 0 };
}

const outputOf = (owner: string): Promise<string> => readFile(join(root, owner, "component/data/out"), "utf8");

/** As when a HostedControlPlane is deleted. */
async function remove(owner: string): Promise<void> {
  await workloads.removeOwner(owner);
  await ids.release(owner);
}

test("a setuid file that a deleted tenant left does not read the next tenant's key", async () => {
  // A second control plane of the attacker keeps running and uses what the first one leaves.
  const leave = WORLD_WRITABLE.map((dir) => `cp /bin/cat ${leftIn(dir)}; chmod 6755 ${leftIn(dir)}`).join("; ");
  await create("mallory/first", leave);
  await remove("mallory/first");
  const victim = await create("victim/plane", "true");
  const key = `/proc/${victim.pid}/cwd/files/ca.key`;
  await create("mallory/second", WORLD_WRITABLE.map((dir) => `${leftIn(dir)} ${key}`).join("; "));
  expect(await outputOf("mallory/second")).not.toContain("key of victim/plane");
  for (const dir of WORLD_WRITABLE) expect(existsSync(leftIn(dir)), dir).toBe(false);
});

test("the user id of a deleted tenant belongs to no other", async () => {
  const first = await create("mallory/first", "true");
  await remove("mallory/first");
  expect((await create("victim/plane", "true")).uid).not.toBe(first.uid);
});

test("files of another tenant that are world-readable by mistake are not in a tenant's view", async () => {
  await create("victim/plane", "true");
  const folder = join(root, "victim/plane/component");
  for (const dir of [root, join(root, "victim"), join(root, "victim/plane"), folder, join(folder, "files")])
    await chmod(dir, 0o755);
  await chmod(join(folder, "files/ca.key"), 0o644);
  await create("mallory/plane", `cat ${folder}/files/ca.key; cat ../../../victim/plane/component/files/ca.key`);
  expect(await outputOf("mallory/plane")).not.toContain("key of victim/plane");
});

test("a setuid program of the machine gives a tenant no privileges", async () => {
  const dir = await mkdtemp("/opt/capstan-attack-");
  try {
    await chmod(dir, 0o755);
    await copyFile("/usr/bin/id", join(dir, "id"));
    await chmod(join(dir, "id"), 0o4755);
    const { uid } = await create("mallory/plane", `${dir}/id -u`);
    expect(await outputOf("mallory/plane")).toBe(`${uid}\n`);
  } finally {
    await rm(dir, { recursive: true });
  }
});

test("a fork bomb stops at the tenant's own limit of processes", async () => {
  const bomb = "i=0; while [ $i -lt 200 ]; do sleep 600 & i=$((i+1)); done";
  const { uid } = await create("mallory/plane", `sh -c '${bomb}'`);
  expect(await processesOf(uid)).toBeLessThanOrEqual(64);
  await remove("mallory/plane");
  expect(await processesOf(uid)).toBe(0);
});

test("a program that takes more memory than the tenant may have is killed, alone", async () => {
  const victim = await create("victim/plane", "true");
  await create("mallory/plane", "head -c 400000000 /dev/zero | tail -c 400000000 | wc -c");
  expect(await outputOf("mallory/plane")).not.toContain("400000000");
  expect((await workloads.list("victim/plane"))[0]?.pid).toBe(victim.pid);
});

/** Running processes of a user, without zombies. */
async function processesOf(uid: number): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, "utf8").catch(() => "")));
  return found.filter((status) => status.includes(`\nUid:\t${uid}\t`) && !/^State:\s+[ZX]/m.test(status)).length;
}
