import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isRunning, processIdentity, signalGroup, signalProcess } from "./process-identity.ts";

let child: ChildProcess;
let pid: number;
beforeEach(async () => {
  child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  await once(child, "spawn");
  pid = child.pid ?? 0;
});
afterEach(() => child.kill("SIGKILL"));

test("a running process has an identity, one that has exited has none", async () => {
  const identity = processIdentity(pid);
  expect(identity).toEqual({ pid, startTime: expect.any(Number), bootId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  if (identity === undefined) throw new Error("no identity");
  expect(isRunning(identity)).toBe(true);
  expect(signalProcess(identity, "SIGKILL")).toBe(true);
  await once(child, "exit");
  expect(processIdentity(pid)).toBeUndefined();
  expect(isRunning(identity)).toBe(false);
});

test.each([
  ["another start time", { startTime: 1 }],
  ["another boot", { bootId: "another" }],
])("a record with %s is another process and is not signalled", (_, change) => {
  const recorded = { ...(processIdentity(pid) ?? { pid }), ...change };
  expect(isRunning(recorded)).toBe(false);
  expect(signalProcess(recorded, "SIGKILL")).toBe(false);
  expect(signalGroup(recorded, "SIGKILL")).toBe(false);
  expect(processIdentity(pid)).toBeDefined();
});

test("a record of an earlier version has only the pid, which then decides", () => {
  expect(isRunning({ pid })).toBe(true);
});

test.each([0, -1, 1.5, Number.NaN])("%s is not the pid of a process", (value) => {
  expect(processIdentity(value)).toBeUndefined();
  expect(isRunning({ pid: value })).toBe(false);
});
