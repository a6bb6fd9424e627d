import { nextTime, parseCron } from "@capstan/backup";
import type { MemberStatus } from "@capstan/etcd";

/** etcd's default quota. */
const DEFAULT_QUOTA_BYTES = 2 * 1024 ** 3;
/** Less unused space than this is not worth the pause of a defragmentation. */
const WORTHWHILE_BYTES = 64 * 1024 ** 2;
const DEFAULT_UNUSED_PERCENT = 50;
/** Minimum time between two defragmentations outside of the schedule. */
const DEFRAGMENT_AGAIN_MS = 10 * 60_000;
/** With this much of the quota in use the alarm is not disarmed: it would be raised again immediately. */
const FULL_SHARE = 0.95;
const CALM_CHECK_MS = 60_000;
/** A full etcd rejects heartbeats of nodes: it must be detected before their grace period of 40 s is over. */
const CROWDED_CHECK_MS = 5_000;

/** How much etcd may hold, and when it is defragmented. */
export interface SpaceSettings {
  readonly quotaBytes?: number | undefined;
  readonly defragment?:
    | {
        /** Five fields of cron, in UTC. */
        readonly schedule?: string | undefined;
        /** Also defragment when this percentage of the data files is unused. */
        readonly unusedPercent?: number | undefined;
      }
    | undefined;
}

/** The observed state of etcd's disk space. */
export interface SpaceView {
  readonly statuses: readonly MemberStatus[];
  readonly settings: SpaceSettings | undefined;
  /** When etcd was last defragmented or its data was created. */
  readonly lastDefragmentMs: number;
  readonly nowMs: number;
}

/** What to do about etcd's disk space, and when to check again. */
export interface SpacePlan {
  /** Compact first, because kube-apiserver cannot while the alarm is active. */
  readonly compact: boolean;
  readonly defragment: boolean;
  readonly nextCheckMs: number;
}

/** Decides what to do about etcd's disk space, and when to check again. */
export function planSpace(view: SpaceView): SpacePlan {
  const noSpace = hasAlarm(view.statuses, "NOSPACE");
  const quota = view.settings?.quotaBytes ?? DEFAULT_QUOTA_BYTES;
  const largest = Math.max(0, ...view.statuses.map(({ dbSize }) => dbSize));
  const share = view.settings?.defragment?.unusedPercent ?? DEFAULT_UNUSED_PERCENT;
  const wasteful = view.statuses.some(
    ({ dbSize, dbSizeInUse }) =>
      dbSize - dbSizeInUse >= WORTHWHILE_BYTES && (dbSize - dbSizeInUse) * 100 >= dbSize * share,
  );
  const scheduled = scheduledMs(view);
  const due = scheduled !== undefined && scheduled <= view.nowMs;
  const crowded = noSpace || largest * 2 >= quota;
  const checkMs = view.nowMs + (crowded ? CROWDED_CHECK_MS : CALM_CHECK_MS);
  return {
    compact: noSpace,
    defragment: noSpace || due || (wasteful && view.nowMs - view.lastDefragmentMs >= DEFRAGMENT_AGAIN_MS),
    nextCheckMs: scheduled === undefined || due ? checkMs : Math.min(checkMs, scheduled),
  };
}

function scheduledMs({ settings, lastDefragmentMs }: SpaceView): number | undefined {
  const text = settings?.defragment?.schedule;
  if (text === undefined) return undefined;
  const schedule = parseCron(text);
  return typeof schedule === "string" ? undefined : nextTime(schedule, lastDefragmentMs);
}

/** Reports whether a member has raised an alarm. */
export function hasAlarm(statuses: readonly MemberStatus[], alarm: "NOSPACE" | "CORRUPT"): boolean {
  return statuses.some(({ errors }) => errors.some((error) => error.includes(alarm)));
}

/** Returns what a user must do if etcd is still full after compaction and defragmentation, or undefined. */
export function spaceProblem(
  statuses: readonly MemberStatus[],
  settings: SpaceSettings | undefined,
  quotaField: string,
): { reason: string; message: string } | undefined {
  const quota = settings?.quotaBytes ?? DEFAULT_QUOTA_BYTES;
  const size = Math.max(0, ...statuses.map(({ dbSize }) => dbSize));
  if (size < quota * FULL_SHARE) return undefined;
  return {
    reason: "NoSpace",
    message: `etcd holds ${mebibytes(size)} of at most ${mebibytes(quota)} and rejects writes (alarm NOSPACE); it was compacted and defragmented. Delete objects that are not needed, or raise ${quotaField}; the alarm is then disarmed automatically`,
  };
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
