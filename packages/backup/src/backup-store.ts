/** One stored backup of a control plane. */
export interface Backup {
  /** Sorts by time: `20261116T030000Z`, with `-before-v1.35.4` after it when an upgrade made it. */
  name: string;
  timeMs: number;
  sizeBytes: number;
}

/** Stores backups. Owners are `NAMESPACE/NAME`; an owner never sees the backups of another. */
export interface BackupStore {
  list(owner: string): Promise<Backup[]>;
  /** Keeps a snapshot file and a description of the control plane; whole or not at all. */
  save(owner: string, name: string, snapshotFile: string, description: string): Promise<void>;
  description(owner: string, name: string): Promise<string>;
  /** A local file with the snapshot; `release` when it is no longer needed. */
  snapshot(owner: string, name: string): Promise<{ file: string; release(): Promise<void> }>;
  delete(owner: string, name: string): Promise<void>;
  /** Where that is, for people. */
  readonly location: string;
}

/** File name of the etcd snapshot in a backup. */
export const SNAPSHOT = "snapshot.db";
/** File name of the control plane's description in a backup. */
export const DESCRIPTION = "control-plane.json";

const NAME = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z(-[a-z0-9.-]+)?$/;

/** Returns the name of a backup made at a time, with an optional label. */
export function backupName(nowMs: number, label?: string): string {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  return label === undefined ? time : `${time}-${label}`;
}

/** Parses the time of a backup from its name; undefined when it is not the name of a backup. */
export function backupTimeMs(name: string): number | undefined {
  const match = NAME.exec(name);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
