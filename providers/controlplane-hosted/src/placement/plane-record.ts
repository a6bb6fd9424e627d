import { mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { EtcdMemberRecord } from "@capstan/etcd";
import { writeFileAtomic } from "@capstan/os";
import type { EtcdChangeState } from "./etcd-upgrade/record.ts";
import type { UpgradeRecord } from "./upgrade.ts";

/** Persistent state of a control plane that is not in etcd; stored in its folder. */
export interface PlaneRecord extends EtcdChangeState {
  /** UID of the HostedControlPlane that owns the data, so that another one of the same name does not get it by accident. */
  objectUid?: string;
  /** Address that kube-apiserver listens on; it was free or already its own. */
  listens?: { host: string; port: number };
  /** The serving version; only an upgrade changes it. */
  version?: string;
  /** The Kubernetes version whose etcd runs; unchanged by an upgrade with the same etcd. */
  etcdVersion?: string;
  /** The shared etcd that holds the data, if one does; such a control plane has no members of its own. */
  shared?: string;
  /** Members of etcd. */
  members?: EtcdMemberRecord[];
  /** When etcd was last defragmented or its data was created. */
  lastDefragmentMs?: number;
  /** Whether etcd has ever held data; an empty folder then means data loss. */
  hadData?: boolean;
  /** The backup that was restored last. */
  restored?: string;
  upgrade?: UpgradeRecord;
  /** An upgrade that failed; it is not retried automatically. */
  refused?: { version: string; message: string; configuration?: string };
}

const FILE = "plane.json";

/** Reads the record of a control plane; empty if there is none yet. */
export async function readPlaneRecord(dir: string): Promise<PlaneRecord> {
  try {
    return JSON.parse(await readFile(join(dir, FILE), "utf8")) as PlaneRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new Error(`${join(dir, FILE)} cannot be read: ${String(error)}`, { cause: error });
  }
}

/** Replaces the record atomically, also if the power fails. */
export async function writePlaneRecord(dir: string, record: PlaneRecord): Promise<void> {
  const path = join(dir, FILE);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFileAtomic(path, JSON.stringify(record));
}

/** Returns the control planes and shared etcds below a root (`NAMESPACE/NAME`) that run binaries of a version. */
export async function planesOfVersion(root: string, version: string): Promise<string[]> {
  const users: string[] = [];
  for (const namespace of await readdir(root).catch(() => []))
    for (const name of await readdir(join(root, namespace)).catch(() => [])) {
      const record = await readPlaneRecord(join(root, namespace, name)).catch((): PlaneRecord => ({}));
      if ([record.version, record.etcdVersion, record.etcdServes?.version, record.upgrade?.to].includes(version))
        users.push(`${namespace}/${name}`);
    }
  return users;
}
