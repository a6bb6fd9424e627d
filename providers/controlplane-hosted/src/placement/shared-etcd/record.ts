import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@capstan/os";
import type { CertificateAndKey } from "@capstan/pki";

/** Persistent state of a tenant of a shared etcd. */
export interface TenantRecord {
  /** Of the HostedControlPlane the data belongs to. */
  objectUid?: string;
  /** What its keys and values may take. */
  quotaBytes: number;
  /** It has a user and may read and write. */
  admitted?: boolean;
  /** It has more than it may, and can only read until that has changed. */
  readOnly?: boolean;
  /** Its control plane was deleted; its data goes as soon as etcd answers. */
  gone?: boolean;
}

/** Persistent state of a shared etcd that is not in its data; stored in its folder, readable only by the manager. */
export interface SharedEtcdRecord {
  /** Signs for etcd and for those who may talk to it. */
  authority: CertificateAndKey;
  /** Of the administrator, which only the manager is. */
  rootPassword: string;
  /** By owner: `NAMESPACE/NAME`. */
  tenants: Record<string, TenantRecord>;
}

const FILE = "shared.json";

/** Reads the record; undefined if there is none yet. */
export async function readSharedRecord(dir: string): Promise<SharedEtcdRecord | undefined> {
  try {
    return JSON.parse(await readFile(join(dir, FILE), "utf8")) as SharedEtcdRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${join(dir, FILE)} cannot be read: ${String(error)}`, { cause: error });
  }
}

/** Replaces the record atomically. */
export async function writeSharedRecord(dir: string, record: SharedEtcdRecord): Promise<void> {
  const path = join(dir, FILE);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFileAtomic(path, JSON.stringify(record));
}
