import { expect, test } from "vitest";
import { backupName, backupTimeMs } from "./backup-store.ts";
import { expiredBackups, planBackup } from "./plan.ts";

const at = (text: string): number => Date.parse(text);
const backup = (time: string, label?: string) => {
  const name = backupName(at(time), label);
  return { name, timeMs: backupTimeMs(name) ?? 0, sizeBytes: 1 };
};
const base = {
  schedule: "0 3 * * *",
  requested: false,
  backups: [],
  createdMs: at("2026-11-16T00:00:00Z"),
  nowMs: at("2026-11-16T02:00:00Z"),
};

test("parses the time from names with and without a label", () => {
  expect(backupName(at("2026-11-16T03:00:07.123Z"))).toBe("20261116T030007Z");
  expect(backupTimeMs("20261116T030007Z-before-v1.35.4")).toBe(at("2026-11-16T03:00:07Z"));
  for (const no of ["", "..", "20261116", "20261116T030007Z/../x", ".partial-20261116T030007Z"])
    expect(backupTimeMs(no)).toBeUndefined();
});

test("the first backup is due at the first scheduled time after creation", () => {
  expect(planBackup(base)).toEqual({ type: "later", atMs: at("2026-11-16T03:00:00Z") });
  expect(planBackup({ ...base, nowMs: at("2026-11-16T03:00:00Z") })).toEqual({ type: "now" });
});

test("makes one backup for many missed times", () => {
  const nowMs = at("2026-11-20T12:00:00Z");
  expect(planBackup({ ...base, nowMs })).toEqual({ type: "now" });
  const backups = [backup("2026-11-20T12:00:00Z")];
  expect(planBackup({ ...base, nowMs, backups })).toEqual({ type: "later", atMs: at("2026-11-21T03:00:00Z") });
});

test("makes a requested backup without a schedule, and reports an invalid schedule", () => {
  const { schedule: _schedule, ...rest } = base;
  expect(planBackup({ ...rest, schedule: undefined, requested: true })).toEqual({ type: "now" });
  expect(planBackup({ ...rest, schedule: undefined })).toEqual({ type: "never" });
  expect(planBackup({ ...base, schedule: "daily" })).toMatchObject({ type: "invalid" });
});

test("keeps the newest backups, counting those of upgrades separately", () => {
  const days = ["11", "12", "13", "14"].map((day) => backup(`2026-11-${day}T03:00:00Z`));
  const upgrades = ["11", "12", "13"].map((day) => backup(`2026-11-${day}T04:00:00Z`, "before-v1.35.4"));
  const names = expiredBackups([...days, ...upgrades], 3).map((each) => each.name);
  expect(names).toEqual(["20261111T030000Z", "20261111T040000Z-before-v1.35.4"]);
});

test("keeps a backup that a control plane is restored from", () => {
  const days = ["11", "12", "13", "14"].map((day) => backup(`2026-11-${day}T03:00:00Z`));
  const names = expiredBackups(days, 2, new Set(["20261111T030000Z"])).map((each) => each.name);
  expect(names).toEqual(["20261112T030000Z"]);
});
