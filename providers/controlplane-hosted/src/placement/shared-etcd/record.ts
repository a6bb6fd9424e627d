import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@capstan/os";
import type { CertificateAndKey } from "@capstan/pki";

/** Persistent state of a tenant of a shared etcd. */
export interface TenantRecord {
  /** UID of the HostedControlPlane that owns the data. */
  objectUid?: string;
  /** Quota for its keys and values. */
  quotaBytes: number;
  /** Whether it has a user with read and write permissions. */
  admitted?: boolean;
  /** Whether it exceeds its quota and can only read. */
  readOnly?: boolean;
  /** Whether its control plane was deleted; its data is deleted as soon as etcd responds. */
  gone?: boolean;
}

/** Persistent state of a shared etcd that is not in its data; stored in its folder, readable only by the manager. */
export interface SharedEtcdRecord {
  /** CA of etcd and its clients. */
  authority: CertificateAndKey;
  /** Password of the root user, which only the manager uses. */
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
