import { rmSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Backup, type BackupStore, backupName, backupTimeMs, expiredBackups, planBackup } from "@capstan/backup";
import type { ConditionInput } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { type BackupPlace, FETCHED, openBackupStore, type StoreSource, storeLocation } from "./open-store.ts";
import { type BackupStatus, LISTED_BACKUPS } from "./schemas.ts";

/** `capstan.dev/backup: now` requests one immediately. */
export const BACKUP_ANNOTATION = "capstan.dev/backup";
/** A failed backup is retried after this time. */
const RETRY_MS = 60_000;
/** The store is listed this often even if nothing is due: backups may be deleted in it. */
const RELIST_MS = 24 * 3_600_000;
/** Maximum number removed in one reconcile: a store may list any number, and each deletion takes time. */
const MAX_REMOVED = 100;

const BACKED_UP: ConditionInput = { type: "BackedUp", status: "True", reason: "BackedUp", message: "" };

/** A control plane whose backups are kept. */
export interface BackupSubject extends StoreSource {
  /** `NAMESPACE/NAME` in the store. */
  readonly owner: string;
  readonly createdMs: number;
  /** A backup was requested with the annotation. */
  readonly requested: boolean;
  readonly known: BackupStatus | undefined;
  /** Backups that are never pruned, because a restore names them. */
  readonly named: ReadonlySet<string>;
  /** Names of those that another cluster of the same name has made: they are neither counted nor pruned. */
  readonly foreign?: (store: BackupStore, backups: readonly Backup[]) => Promise<Pick<ReadonlySet<string>, "has">>;
  /** Saves a snapshot of etcd to a file; rejects with what a person can act on. */
  snapshot(file: string): Promise<void>;
  /** What is stored in addition to etcd's data. */
  describe(): Promise<string>;
  /** Removes the annotation. */
  answered(): Promise<void>;
}

/** Status and condition of the backups of a control plane, and when to check them again. */
export interface BackupReport {
  status?: BackupStatus;
  condition?: ConditionInput;
  recheckAtMs?: number;
}

/** Where snapshots are before they are stored. */
const TAKING = ".taking";

/** Removes the snapshots that a killed manager was storing or fetching; before its controllers start, since those use the same folders. */
export function sweepScratch(dir: string): void {
  for (const folder of [TAKING, FETCHED]) rmSync(join(dir, folder), { recursive: true, force: true });
}

/** Takes a snapshot into a scratch folder, stores it and returns the name of the backup. */
export async function takeBackup(
  subject: Pick<BackupSubject, "owner" | "snapshot" | "describe">,
  store: BackupStore,
  dir: string,
  nowMs: number,
  label?: string,
): Promise<string> {
  const name = backupName(nowMs, label);
  await mkdir(join(dir, TAKING), { recursive: true, mode: 0o700 });
  // A recovery may save the same owner's data while a scheduled backup fails: each attempt deletes only its own folder.
  const scratch = await mkdtemp(join(dir, TAKING, `${subject.owner.replace("/", "_")}-`));
  try {
    const file = join(scratch, `${name}.db`);
    await subject.snapshot(file);
    await store.save(subject.owner, name, file, await subject.describe());
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return name;
}

/** Takes a backup if one is due, deletes old ones and reports the result. */
export async function keepBackups(
  subject: BackupSubject,
  place: BackupPlace,
  context: ReconcileContext,
): Promise<BackupReport> {
  const { settings, requested, known, owner, createdMs, field } = subject;
  if (settings === undefined && !requested && known === undefined) return {};
  const nowMs = context.clock.now();
  const failed = (reason: string, message: string): BackupReport => ({
    status: known,
    condition: { type: "BackedUp", status: "False", reason, message },
    recheckAtMs: nowMs + RETRY_MS,
  });
  const input = { schedule: settings?.schedule, createdMs, nowMs };
  const listedMs = Date.parse(known?.listedTime ?? "") || 0;
  const sameStore = known?.location === storeLocation(settings, place);
  if (known !== undefined && sameStore && listedMs + RELIST_MS > nowMs && !requested) {
    // When the next backup is due follows from the last one.
    const { lastName } = known;
    const last = lastName === undefined ? [] : [{ name: lastName, timeMs: backupTimeMs(lastName) ?? 0, sizeBytes: 0 }];
    const due = planBackup({ ...input, requested, backups: last });
    if (due.type === "later" || due.type === "never")
      return {
        status: { ...known, nextTime: due.type === "later" ? time(due.atMs) : undefined },
        condition: conditionOf(last.length, known, known.location ?? ""),
        recheckAtMs: Math.min(listedMs + RELIST_MS, due.type === "later" ? due.atMs : Number.POSITIVE_INFINITY),
      };
  }
  const store = await openBackupStore(subject, place, context);
  if ("problem" in store) return failed("StoreNotUsable", store.problem);
  try {
    const due = planBackup({ ...input, requested, backups: (await listOwn(subject, store)).own });
    if (due.type === "invalid") return failed("InvalidSchedule", `${field}.schedule: ${due.message}`);
    if (due.type === "now") await takeBackup(subject, store, place.dir, nowMs);
    const { own: backups, all, isForeign } = await listOwn(subject, store);
    const expired = expiredBackups(backups, settings?.keep, subject.named).slice(0, MAX_REMOVED);
    for (const old of expired) await store.delete(owner, old.name);
    if (requested) await subject.answered();
    const next = planBackup({ ...input, requested: false, backups });
    const nextMs = next.type === "later" ? next.atMs : undefined;
    const kept = backups.filter((backup) => !expired.includes(backup));
    const listed = all
      .filter((backup) => !expired.includes(backup))
      .map(({ name, sizeBytes }) => ({ name, sizeBytes, otherCluster: isForeign(name) ? true : undefined }));
    return {
      status: statusOf(kept, listed, known, store.location, nowMs, nextMs),
      condition: conditionOf(kept.length, known, store.location, listed.length - kept.length),
      recheckAtMs: Math.min(nowMs + RELIST_MS, nextMs ?? Number.POSITIVE_INFINITY),
    };
  } catch (error) {
    return failed("BackupFailed", error instanceof Error ? error.message : String(error));
  }
}

async function listOwn({ owner, foreign }: BackupSubject, store: BackupStore) {
  const all = await store.list(owner);
  const others = (await foreign?.(store, all)) ?? new Set<string>();
  const isForeign = (name: string): boolean => others.has(name);
  return { all, own: all.filter(({ name }) => !isForeign(name)), isForeign };
}

/** A store that once had backups and has none is not one whose first backup is yet to come. */
function conditionOf(
  count: number,
  known: BackupStatus | undefined,
  location: string,
  foreign = known?.backups?.filter(({ otherCluster }) => otherCluster === true).length ?? 0,
): ConditionInput {
  const others =
    foreign === 0 ? "" : `${location} has ${foreign} backups of another cluster of this name: move or delete them`;
  if (count > 0) return { ...BACKED_UP, message: others };
  const none = { type: "BackedUp", status: "False" as const };
  return known === undefined && foreign === 0
    ? { ...none, reason: "NoBackupYet", message: "The first backup is not due yet" }
    : {
        ...none,
        reason: "NoBackup",
        message: `${location} has no backup of this control plane: take one with capstan backup create, or correct where backups are stored${others === "" ? "" : `; ${others}`}`,
      };
}

function statusOf(
  kept: readonly Backup[],
  listed: NonNullable<BackupStatus["backups"]>,
  known: BackupStatus | undefined,
  location: string,
  nowMs: number,
  nextMs: number | undefined,
): BackupStatus | undefined {
  const last = kept.at(-1);
  if (listed.length === 0 && known === undefined) return undefined;
  return {
    ...(last === undefined
      ? {}
      : { lastName: last.name, lastTime: time(backupTimeMs(last.name) ?? 0), lastSizeBytes: last.sizeBytes }),
    count: kept.length,
    location,
    listedTime: time(nowMs),
    backups: listed.slice(-LISTED_BACKUPS),
    nextTime: nextMs === undefined ? undefined : time(nextMs),
  };
}

function time(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
