import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemVmProcesses } from "./vm-processes.ts";

const UUID = "6a7b2f0e-0000-4000-8000-00000000abcd";
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-vm-process-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;

test("starts a process that is found by its UUID, and kills it", async () => {
  const command = { command: "sh", args: ["-c", "echo started; sleep 60", "qemu", "-uuid", UUID] };
  const started = await systemVmProcesses.start(command, join(folder, "log"));
  const { pid } = started.identity;
  expect((await systemVmProcesses.find(UUID))?.pid).toBe(pid);
  expect(systemVmProcesses.isRunning(started.identity)).toBe(true);
  systemVmProcesses.kill(started.identity);
  expect(await started.exited).toBeUndefined();
  expect(systemVmProcesses.isRunning(started.identity)).toBe(false);
  expect(await systemVmProcesses.find(UUID)).toBeUndefined();
});

test("reports the exit code, and keeps what was printed", async () => {
  const command = { command: "sh", args: ["-c", "echo failed >&2; exit 3"] };
  const started = await systemVmProcesses.start(command, join(folder, "log"));
  expect(await started.exited).toBe(3);
  expect(await readFile(join(folder, "log"), "utf8")).toBe("failed\n");
  await expect(
    systemVmProcesses.start({ command: join(folder, "none"), args: [] }, join(folder, "log")),
  ).rejects.toThrow();
});

test.runIf(isRoot)("runs as another user without capabilities, and is not taken for one of a third user", async () => {
  const user = { uid: 1_912_345_678, groups: [] };
  const script = "id -u; id -G; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; sleep 60";
  const command = { command: "sh", args: ["-c", script, "qemu", "-uuid", UUID] };
  const started = await systemVmProcesses.start(command, join(folder, "log"), user);
  const lines = async (): Promise<string[]> => (await readFile(join(folder, "log"), "utf8")).trim().split("\n");
  while ((await lines()).length < 4) await new Promise((resolve) => setImmediate(resolve));
  expect(await lines()).toEqual([String(user.uid), String(user.uid), "CapEff:\t0000000000000000", "NoNewPrivs:\t1"]);
  expect((await systemVmProcesses.find(UUID, user))?.pid).toBe(started.identity.pid);
  expect(await systemVmProcesses.find(UUID)).toBeUndefined();
  systemVmProcesses.kill(started.identity);
  await started.exited;
});
