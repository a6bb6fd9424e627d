import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { planesOfVersion } from "./plane-record.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-planes-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function plane(key: string, record: object): Promise<void> {
  await mkdir(join(root, key), { recursive: true });
  await writeFile(join(root, key, "plane.json"), JSON.stringify(record));
}

test("finds the control planes that run a version, upgrade to it or run its etcd", async () => {
  await plane("default/runs", { version: "v1.34.4" });
  await plane("default/upgrades", { version: "v1.33.0", upgrade: { to: "v1.34.4" } });
  await plane("other/keeps-etcd", { version: "v1.35.0", etcdVersion: "v1.34.4" });
  await plane("other/another", { version: "v1.35.0" });
  expect((await planesOfVersion(root, "v1.34.4")).toSorted()).toEqual([
    "default/runs",
    "default/upgrades",
    "other/keeps-etcd",
  ]);
});

test("finds none in an empty data directory", async () => {
  expect(await planesOfVersion(join(root, "missing"), "v1.34.4")).toEqual([]);
});
