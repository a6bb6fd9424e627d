import { join } from "node:path";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { type BackupStore, DirectoryStore, S3Store, s3Location } from "@capstan/backup";
import { Secret, secretText } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import type { BackupSettings } from "./schemas.ts";

/** Where snapshots of object stores are while they are restored, below the manager's folder. */
export const FETCHED = ".s3";

/** The manager's folder for backups, and which addresses may be dialed. */
export interface BackupPlace {
  readonly dir: string;
  readonly gate: DialGate;
}

/** The settings of a store and where they come from. */
export interface StoreSource {
  readonly namespace: string;
  readonly settings: BackupSettings | undefined;
  /** The field of the settings, for messages: `spec.etcd.backup`. */
  readonly field: string;
}

/** Where the backups of settings are, without the credentials of the store. */
export function storeLocation(settings: BackupSettings | undefined, { dir }: BackupPlace): string {
  return settings?.s3 === undefined ? dir : s3Location(settings.s3);
}

/** Returns the store that settings choose, or why it cannot be used. */
export async function openBackupStore(
  { namespace, settings, field }: StoreSource,
  { dir, gate }: BackupPlace,
  context: ReconcileContext,
): Promise<BackupStore | { problem: string }> {
  const s3 = settings?.s3;
  if (s3 === undefined) return new DirectoryStore(dir);
  const secret = await context.client.get(Secret, { namespace, name: s3.secretName });
  const accessKeyId = secretText(secret, "accessKeyId");
  const secretAccessKey = secretText(secret, "secretAccessKey");
  if (accessKeyId === undefined || secretAccessKey === undefined)
    return { problem: `${field}.s3: Secret ${s3.secretName} must have the keys accessKeyId and secretAccessKey` };
  const { secretName: _secret, ...rest } = s3;
  const { clock } = context;
  const keys = { accessKeyId, secretAccessKey };
  try {
    return new S3Store({ ...rest, ...keys, field: `${field}.s3`, scratchDir: join(dir, FETCHED), clock, gate });
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
