import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DirectoryStore } from "@capstan/backup";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sweepScratch, takeBackup } from "./keep-backups.ts";

const OWNER = "default/c1_kubeadm";
const NOW = Date.parse("2026-11-19T12:00:00Z");

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-keep-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("a backup that fails leaves the snapshot alone that is being saved for the same owner", async () => {
  const store = new DirectoryStore(dir);
  const describe = () => Promise.resolve("{}");
  const fails = { owner: OWNER, describe, snapshot: () => Promise.reject(new Error("no leader")) };
  const survives = {
    owner: OWNER,
    describe,
    snapshot: async (file: string) => {
      await writeFile(file, "first half");
      await expect(takeBackup(fails, store, dir, NOW)).rejects.toThrow("no leader");
      expect(existsSync(file)).toBe(true);
    },
  };
  const name = await takeBackup(survives, store, dir, NOW, "recovery-r1");
  expect((await store.list(OWNER)).map((backup) => backup.name)).toEqual([name]);
  expect(await readdir(join(dir, ".taking"))).toEqual([]);
});

test("sweeps what a killed manager left, and no backup", async () => {
  await new DirectoryStore(dir).save(OWNER, "20261119T110000Z", import.meta.filename, "{}");
  for (const folder of [".taking", ".s3"]) {
    await mkdir(join(dir, folder, "left"), { recursive: true });
    await writeFile(join(dir, folder, "left", "x.db"), "x");
  }
  sweepScratch(dir);
  expect(await readdir(dir)).toEqual(["default"]);
  sweepScratch(dir);
});
