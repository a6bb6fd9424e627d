import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockHost } from "./lock.ts";
import { processId } from "./work.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-lock-"));
  path = join(dir, "lock");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("runs one agent per host: respects a live holder, and releases the lock", () => {
  writeFileSync(path, JSON.stringify(processId(process.ppid)));
  expect(() => lockHost(path)).toThrow(`another agent runs on this host (process ${process.ppid})`);
  rmSync(path);
  lockHost(path)();
  lockHost(path)();
});

test.each([
  ["a process that is gone", JSON.stringify({ pid: 999_999_999, start: "1" })],
  ["another process that has its number now, after a reboot", JSON.stringify({ pid: process.ppid, start: "1" })],
  ["nothing that can be read", "half"],
])("ignores a lock of %s", (_, content) => {
  writeFileSync(path, content);
  lockHost(path)();
});
