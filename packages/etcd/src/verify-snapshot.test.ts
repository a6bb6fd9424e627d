import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SnapshotDamaged, verifySnapshot } from "./verify-snapshot.ts";

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-verify-"));
  file = join(dir, "snapshot.db");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const sha256 = (data: Buffer): Buffer => createHash("sha256").update(data).digest();
// Longer than a chunk of a file.
const data = Buffer.alloc(200_001, "etcd");
const snapshot = Buffer.concat([data, sha256(data)]);

test("accepts a snapshot with etcd's hash at its end, and returns the digest of the file", async () => {
  writeFileSync(file, snapshot);
  expect(await verifySnapshot(file)).toBe(sha256(snapshot).toString("hex"));
});

test.each([
  ["an empty file", Buffer.alloc(0)],
  ["a hash without data", sha256(Buffer.alloc(0))],
  ["a file whose end is missing", snapshot.subarray(0, -1)],
  ["a file whose middle is missing", Buffer.concat([snapshot.subarray(0, 1000), snapshot.subarray(1001)])],
])("rejects %s", async (_, bytes) => {
  writeFileSync(file, bytes);
  await expect(verifySnapshot(file)).rejects.toThrow(SnapshotDamaged);
});
