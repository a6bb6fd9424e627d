import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { restoreBackup } from "./restore-backup.ts";

const member = { name: "etcd-0", clientUrl: "https://a:1", peerUrl: "https://a:2", metricsUrl: "http://a:3" };
let dir: string;
let dataDir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-restore-backup-"));
  dataDir = join(dir, "data");
  await mkdir(dataDir);
  await writeFile(join(dataDir, "member"), "old");
});

afterEach(() => rm(dir, { recursive: true, force: true }));

/** An etcdutl that runs a line of shell, with the data folder as $5. */
async function restore(line: string): Promise<void> {
  await writeFile(join(dir, "etcdutl"), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  await restoreBackup(dir, join(dir, "snapshot.db"), dataDir, member, [member], "default/c1/20260101T000000Z");
}

const data = (): Promise<string> => readFile(join(dataDir, "member"), "utf8");

test.each([
  ["echo 'Error: snapshot file integrity check failed' >&2; exit 1", "BackupNotUsable", /20260101T000000Z cannot be/],
  ["echo 'write: no space left on device' >&2; exit 1", "DiskFull", /free space/],
])("a snapshot that cannot be restored leaves the data as it is: %s", async (line, reason, message) => {
  await expect(restore(`mkdir "$5"; ${line}`)).rejects.toMatchObject({
    reason,
    message: expect.stringMatching(message),
  });
  expect(await data()).toBe("old");
  expect((await readdir(dir)).toSorted()).toEqual(["data", "etcdutl"]);
});

test("does not blame the backup for a missing tool", async () => {
  const restoring = restoreBackup(dir, "snapshot.db", dataDir, member, [member], "b");
  await expect(restoring).rejects.toThrow("install the etcd tools");
  await expect(restoring).rejects.not.toHaveProperty("reason");
  expect(await data()).toBe("old");
});
