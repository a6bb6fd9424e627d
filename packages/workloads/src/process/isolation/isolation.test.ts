import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@capstan/apimachinery";
import { processIdentity } from "@capstan/os";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ProgramState } from "../../types.ts";
import { ProcessWorkloads } from "../process-workloads.ts";
import { Isolation } from "./isolation.ts";

// Only root can isolate, and only outside of containers that keep it from doing so. An id that nothing else on the machine has.
const isRoot = process.getuid?.() === 0;
const report = isRoot ? await new Isolation("/nonexistent", systemClock).report() : undefined;
const isolated = test.skipIf(report === undefined || report.viewProblem !== undefined);
const limited = test.skipIf(
  report === undefined || report.viewProblem !== undefined || report.limitProblems.length > 0,
);
const UID = 1_999_000_001;
let root: string;
let hidden: string;
let workloads: ProcessWorkloads;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-isolation-"));
  hidden = await mkdtemp(join(tmpdir(), "capstan-hidden-"));
  // Open to everybody, so that only the view keeps it away.
  await chmod(root, 0o755);
  await chmod(hidden, 0o755);
  workloads = new ProcessWorkloads({ root, clock: systemClock, hidden: [hidden], limits: { processes: 64 } });
});

afterEach(async () => {
  await workloads.removeOwner("default/a");
  await rm(root, { recursive: true, force: true });
  await rm(hidden, { recursive: true, force: true });
});

/** Runs a script as a program of default/a until it has ended once. Returns what it wrote to `$DATA/out`. */
async function outputOf(script: string): Promise<string> {
  const done = "/bin/touch $0/done; exec /bin/sleep 600";
  await workloads.ensure({
    id: { owner: "default/a", name: "sh" },
    command: "/bin/sh",
    args: ["-c", `{ ${script}\n} > $0/out 2>&1; ${done}`, "$DATA"],
    dataDir: true,
    uid: UID,
  });
  const data = join(root, "default/a/sh/data");
  for (;;)
    if (existsSync(join(data, "done"))) break;
    else await new Promise((resolve) => setImmediate(resolve));
  return await readFile(join(data, "out"), "utf8");
}

const state = async (): Promise<ProgramState | undefined> => (await workloads.list("default/a"))[0];

isolated("a program has no capabilities, no other groups, and cannot gain privileges", async () => {
  const status = await outputOf("cat /proc/self/status");
  for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
    expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, "m"));
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
  expect(status).toMatch(/^Groups:\s*$/m);
  expect(status).toMatch(new RegExp(`^Uid:\\s+${UID}\\s+${UID}\\s+${UID}`, "m"));
});

isolated("world-writable directories are private, empty and without setuid", async () => {
  await writeFile(join(root, "visible"), "");
  const left = join(tmpdir(), `capstan-left-${process.pid}`);
  await writeFile(left, "another owner's");
  try {
    const listed = await outputOf("ls -A /tmp /var/tmp /dev/shm; touch /tmp/mine; grep ' /tmp ' /proc/mounts");
    expect(listed).not.toContain("capstan-left");
    expect(listed).toMatch(/ \/tmp tmpfs .*nosuid/);
    expect(existsSync("/tmp/mine")).toBe(false);
  } finally {
    await rm(left);
  }
});

isolated("the directories of other owners and of the manager are not in its view, by any path", async () => {
  await mkdir(join(root, "default/b"), { recursive: true });
  await writeFile(join(root, "default/b/key"), "key of b", { mode: 0o644 });
  await writeFile(join(hidden, "admin.conf"), "key of the manager", { mode: 0o644 });
  for (const dir of ["default", "default/b"]) await chmod(join(root, dir), 0o755);
  const read = await outputOf(
    `for path in ${root}/default/b/key ${hidden}/admin.conf ../../b/key ../../../b/key; do cat $path; done`,
  );
  expect(read).not.toContain("key of");
  expect(await readFile(join(root, "default/b/key"), "utf8")).toBe("key of b");
});

isolated("its arguments begin with its own name, and its pid is the one that was started", async () => {
  expect(await outputOf("echo $$; tr '\\0' ' ' < /proc/$$/cmdline")).toMatch(
    new RegExp(`^${(await state())?.pid}\n/run/capstan/bin/\\w+ -c`),
  );
});

limited("its control groups limit memory, CPU and processes, and are removed with it", async () => {
  const groups = await outputOf("cat /proc/self/cgroup; cat /proc/self/cgroup | wc -l");
  const joined = groups.split("\n").filter((line) => line.endsWith("default_a"));
  expect(joined.length).toBeGreaterThan(0);
  await workloads.removeOwner("default/a");
  for (const line of joined) {
    const [, controller = "", path = ""] = line.split(":");
    expect(existsSync(join("/sys/fs/cgroup", controller, path)), line).toBe(false);
  }
});

limited("what a deleted owner's program has started in a session of its own is killed", async () => {
  const child = Number(await outputOf("setsid sleep 600 3>&- > /dev/null 2>&1 & echo $!"));
  expect(processIdentity(child)).toBeDefined();
  await workloads.removeOwner("default/a");
  expect(processIdentity(child)).toBeUndefined();
});

isolated("a program that cannot be executed is reported", async () => {
  const file = join(root, "text");
  await writeFile(file, "no program", { mode: 0o644 });
  const { phase, message } = await workloads.ensure({
    id: { owner: "default/a", name: "sh" },
    command: file,
    args: [],
    uid: UID,
  });
  expect(phase).toBe("Failed");
  expect(message).toContain(`cannot start ${file}`);
  expect(message).toContain("EACCES");
});

test.skipIf(!isRoot)("without the tools it runs as its own user, and the report says what is missing", async () => {
  const { stdout } = await promisify(execFile)("sh", ["-c", "command -v mkfifo"]);
  const path = process.env["PATH"];
  await symlink(stdout.trim(), join(hidden, "mkfifo"));
  process.env["PATH"] = hidden;
  try {
    expect((await workloads.isolationReport()).viewProblem).toContain("unshare");
    expect(await outputOf("/bin/cat /proc/self/status")).toMatch(new RegExp(`^Uid:\\s+${UID}\\s+${UID}`, "m"));
  } finally {
    process.env["PATH"] = path;
  }
});
