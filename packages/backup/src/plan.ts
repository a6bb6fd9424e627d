import { type Backup, backupTimeMs } from "./backup-store.ts";
import { nextTime, parseCron } from "./cron.ts";

const DEFAULT_KEEP = 7;
/** Backups that upgrades made are kept in addition to the scheduled ones. */
const KEEP_BEFORE_UPGRADES = 2;

/** What decides whether a backup is due. */
export interface BackupPlanInput {
  schedule: string | undefined;
  /** A backup was requested. */
  requested: boolean;
  backups: readonly Backup[];
  /** Without a backup the schedule starts at the creation. */
  createdMs: number;
  nowMs: number;
}

/** When the next backup is due. */
export type BackupPlan =
  | { type: "now" }
  | { type: "later"; atMs: number }
  | { type: "never" }
  | { type: "invalid"; message: string };

/** Decides whether a backup is due. However many were missed while the manager was down, one backup makes up for them. */
export function planBackup(input: BackupPlanInput): BackupPlan {
  if (input.requested) return { type: "now" };
  if (input.schedule === undefined) return { type: "never" };
  const schedule = parseCron(input.schedule);
  if (typeof schedule === "string") return { type: "invalid", message: schedule };
  const last = Math.max(input.createdMs, ...scheduled(input.backups).map((backup) => backup.timeMs));
  const atMs = nextTime(schedule, last);
  if (atMs === undefined) return { type: "never" };
  return atMs <= input.nowMs ? { type: "now" } : { type: "later", atMs };
}

/** Returns the backups to prune, oldest first; never one of `named`, from which a control plane is to be restored. */
export function expiredBackups(
  backups: readonly Backup[],
  keep: number | undefined,
  named: ReadonlySet<string> = new Set(),
): Backup[] {
  const ordinary = scheduled(backups);
  const labelled = backups.filter((backup) => !ordinary.includes(backup));
  const expired = [...tooMany(ordinary, keep ?? DEFAULT_KEEP), ...tooMany(labelled, KEEP_BEFORE_UPGRADES)];
  return expired.filter((backup) => !named.has(backup.name));
}

function scheduled(backups: readonly Backup[]): Backup[] {
  return backups.filter((backup) => !backup.name.includes("-"));
}

function tooMany(backups: readonly Backup[], keep: number): Backup[] {
  const byTime = backups.toSorted((a, b) => (backupTimeMs(a.name) ?? 0) - (backupTimeMs(b.name) ?? 0));
  return byTime.slice(0, Math.max(0, byTime.length - keep));
}
