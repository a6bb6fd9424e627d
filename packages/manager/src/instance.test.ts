import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processIdentity } from "@capstan/os";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type InstanceRecord, readInstance, readProviderFiles, stopInstance, writeInstance } from "./instance.ts";

let dir: string;
let unrelated: ChildProcess;
let record: InstanceRecord;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-instance-"));
  unrelated = spawn("sleep", ["600"], { stdio: "ignore" });
  await once(unrelated, "spawn");
  const identity = processIdentity(unrelated.pid ?? 0) ?? { pid: 0 };
  record = { ...identity, server: "https://127.0.0.1:1", kubeconfig: "", startedAt: "", version: "v0" };
});
afterEach(async () => {
  unrelated.kill("SIGKILL");
  await rm(dir, { recursive: true });
});

test.each([
  ["whose pid a later process has", { startTime: 1 }],
  ["from before a reboot", { bootId: "another" }],
])("an instance %s does not run, and stopping it signals no one", async (_, change) => {
  await writeInstance(dir, { ...record, ...change });
  expect(await readInstance(dir)).toBeUndefined();
  expect(stopInstance({ ...record, ...change })).toBe(false);
  expect(unrelated.exitCode ?? unrelated.signalCode).toBeNull();
});

test("an instance that runs is found and stopped", async () => {
  await writeInstance(dir, record);
  expect(await readInstance(dir)).toEqual(record);
  const exited = once(unrelated, "exit");
  expect(stopInstance(record)).toBe(true);
  expect((await exited)[1]).toBe("SIGTERM");
  expect(await readInstance(dir)).toBeUndefined();
});

test("the providers of an instance are those that it was started with", async () => {
  await writeInstance(dir, { ...record, providerFiles: ["/lab.js"] });
  expect(await readProviderFiles(dir)).toEqual(["/lab.js"]);
  await writeInstance(dir, record);
  expect(await readProviderFiles(dir)).toEqual([]);
});

const root = process.getuid?.() === 0;
test.each<[string, (path: string) => Promise<void>]>([
  ["everybody may write", (path) => chmod(path, 0o606)],
  ["its group may write", (path) => chmod(path, 0o660)],
  // Only root can give a file away.
  ["another user may write", (path) => (root ? chown(path, 65_534, 0) : chmod(path, 0o602))],
])("no code is taken from an instance file that %s", async (_, give) => {
  await writeInstance(dir, { ...record, providerFiles: ["/lab.js"] });
  await give(join(dir, "instance.json"));
  await expect(readProviderFiles(dir)).rejects.toThrow("its providers are not loaded");
});
