/** One kept backup of a control plane. */
export interface Backup {
  /** Sorts by time: `20261116T030000Z`, with `-before-v1.35.4` after it when an upgrade made it. */
  name: string;
  timeMs: number;
  sizeBytes: number;
}

/** Where backups are kept. Owners are `NAMESPACE/NAME`; one never sees the backups of another. */
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

export const SNAPSHOT = "snapshot.db";
export const DESCRIPTION = "control-plane.json";

const NAME = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z(-[a-z0-9.-]+)?$/;

/** The name of a backup made at a time, with an optional label. */
export function backupName(nowMs: number, label?: string): string {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  return label === undefined ? time : `${time}-${label}`;
}

/** When a backup was made, by its name; undefined when that is no name of a backup. */
export function backupTimeMs(name: string): number | undefined {
  const match = NAME.exec(name);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
