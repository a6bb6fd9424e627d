import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@capstan/apimachinery";
import { DirectoryStore } from "@capstan/backup";
import { openDialGate, type ReconcileContext } from "@capstan/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BackupReport, keepBackups, sweepScratch, takeBackup } from "./keep-backups.ts";
import type { BackupStatus } from "./schemas.ts";

const OWNER = "default/c1_kubeadm";
const HOUR_MS = 3_600_000;
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

describe("what the status says", () => {
  let clock: VirtualClock;
  beforeEach(() => {
    clock = new VirtualClock(NOW);
  });

  const keep = async (place: string, known?: BackupStatus, schedule?: string): Promise<BackupReport> =>
    await keepBackups(
      {
        owner: OWNER,
        namespace: "default",
        settings: { schedule, keep: 7 },
        field: "spec",
        createdMs: NOW - HOUR_MS,
        requested: false,
        known,
        named: new Set(),
        snapshot: (file) => writeFile(file, "data"),
        describe: () => Promise.resolve("{}"),
        answered: () => Promise.resolve(),
      },
      { dir: place, gate: openDialGate() },
      { clock } as unknown as ReconcileContext,
    );
  const conditionOf = ({ condition }: BackupReport): string => `${condition?.status} ${condition?.reason}`;

  test("a store that the settings name now is listed, and one without a backup is reported", async () => {
    const first = await keep(dir, undefined, "*/30 * * * *");
    expect(conditionOf(first)).toBe("True BackedUp");
    const moved = join(dir, "moved");
    const report = await keep(moved, first.status, undefined);
    expect(conditionOf(report)).toBe("False NoBackup");
    expect(report.condition?.message).toContain(`${moved} has no backup`);
  });

  test("backups that were deleted in the store are noticed within a day, without listing it again before", async () => {
    const first = await keep(dir, undefined, "0 3 1 1 *");
    expect(conditionOf(first)).toBe("False NoBackupYet");
    await new DirectoryStore(dir).save(OWNER, "20261119T110000Z", import.meta.filename, "{}");
    const second = await keep(dir, first.status, "0 3 1 1 *");
    expect(conditionOf(second)).toBe("True BackedUp");
    await rm(join(dir, OWNER), { recursive: true });
    const early = await keep(dir, second.status, "0 3 1 1 *");
    expect(conditionOf(early)).toBe("True BackedUp");
    expect(early.recheckAtMs).toBe(NOW + 24 * HOUR_MS);
    await clock.advance(24 * HOUR_MS);
    const late = await keep(dir, early.status, "0 3 1 1 *");
    expect(conditionOf(late)).toBe("False NoBackup");
    expect(late.recheckAtMs).toBeGreaterThan(clock.now() + HOUR_MS);
    expect(conditionOf(await keep(dir, late.status, "0 3 1 1 *"))).toBe("False NoBackup");
  });
});
