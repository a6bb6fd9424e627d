import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { adoptRestored, restoreSnapshot } from "./tools.ts";

const member = { name: "etcd-0", clientUrl: "https://a:1", peerUrl: "https://a:2", metricsUrl: "http://a:3" };
let dir: string;
let dataDir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-tools-"));
  dataDir = join(dir, "data");
  await mkdir(dataDir);
  await writeFile(join(dataDir, "member"), "old");
});

afterEach(() => rm(dir, { recursive: true, force: true }));

/** An etcdutl that does what a line of shell says, with the data folder as $5. */
async function restore(line: string): Promise<void> {
  await writeFile(join(dir, "etcdutl"), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  await restoreSnapshot(dir, join(dir, "snapshot.db"), dataDir, member, [member]);
}

const data = (): Promise<string> => readFile(join(dataDir, "member"), "utf8");

test.each([
  [
    "echo 'Error: snapshot file integrity check failed' >&2; exit 1",
    { noSpace: false, message: /integrity check failed$/ },
  ],
  ["echo 'write: no space left on device' >&2; exit 1", { noSpace: true, message: /no space left/ }],
])("a snapshot that cannot be restored leaves the data as it is: %s", async (line, { noSpace, message }) => {
  await expect(restore(`mkdir "$5"; ${line}`)).rejects.toMatchObject({
    noSpace,
    message: expect.stringMatching(message),
  });
  expect(await data()).toBe("old");
  expect((await readdir(dir)).toSorted()).toEqual(["data", "etcdutl"]);
});

test("replaces the data by a valid snapshot, also after a crash halfway", async () => {
  await mkdir(`${dataDir}.new`);
  await writeFile(join(`${dataDir}.new`, "half"), "");
  await restore('mkdir "$5" && printf new > "$5/member"');
  expect(await data()).toBe("old");
  await adoptRestored(dataDir);
  expect(await data()).toBe("new");
  expect(await readdir(dataDir)).toEqual(["member"]);
});

test("does not blame the backup for a missing tool", async () => {
  const restoring = restoreSnapshot(dir, "snapshot.db", dataDir, member, [member]);
  await expect(restoring).rejects.toThrow("install the etcd tools");
  expect(await data()).toBe("old");
});
