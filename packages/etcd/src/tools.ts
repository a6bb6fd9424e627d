import { execFile } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { removeReclaimed, syncDirectory } from "@capstan/os";
import { type EtcdMember, initialCluster } from "./member.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 10 * 60_000;
/** Watches of clients must not see revisions again that they have seen before the loss. */
const BUMP_REVISION = "1000000000";

/** Endpoint and certificate files that etcdctl uses. */
export interface EtcdAccess {
  endpoint: string;
  caFile: string;
  certFile: string;
  keyFile: string;
}

/** Saves a snapshot of one member's data to a file. */
export async function saveSnapshot(binDir: string, access: EtcdAccess, file: string): Promise<void> {
  const args = [
    "--endpoints",
    access.endpoint,
    "--cacert",
    access.caFile,
    "--cert",
    access.certFile,
    "--key",
    access.keyFile,
  ];
  await tool(join(binDir, "etcdctl"), [...args, "snapshot", "save", file]);
}

/** Restores a snapshot into a folder next to a member's data, which stays in place until `adoptRestored`. */
export async function restoreSnapshot(
  binDir: string,
  file: string,
  dataDir: string,
  member: EtcdMember,
  members: readonly EtcdMember[],
): Promise<void> {
  const fresh = restoredDir(dataDir);
  await rm(fresh, { recursive: true, force: true });
  try {
    await tool(join(binDir, "etcdutl"), restoreArguments(file, fresh, member, members));
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
}

/** Replaces a member's data by the restored folder; after a crash the snapshot must be restored again. */
export async function adoptRestored(dataDir: string): Promise<void> {
  await removeReclaimed(dataDir);
  await rename(restoredDir(dataDir), dataDir);
  await syncDirectory(dirname(dataDir));
}

function restoredDir(dataDir: string): string {
  return `${dataDir}.new`;
}

/** Returns the etcdutl arguments that restore a member's data folder from a snapshot. */
export function restoreArguments(
  file: string,
  dataDir: string,
  member: EtcdMember,
  members: readonly EtcdMember[],
): string[] {
  return [
    "snapshot",
    "restore",
    file,
    "--data-dir",
    dataDir,
    "--name",
    member.name,
    "--initial-cluster",
    initialCluster(members),
    "--initial-advertise-peer-urls",
    member.peerUrl,
    "--bump-revision",
    BUMP_REVISION,
    "--mark-compacted",
  ];
}

/** Returns the version that an etcd binary reports. */
export async function etcdVersionOf(binDir: string): Promise<string> {
  const { stdout } = await run(join(binDir, "etcd"), ["--version"], { timeout: TIMEOUT_MS });
  return stdout.split("\n")[0] ?? "";
}

/** Thrown when an etcd tool fails, with its own error output as the message. */
export class EtcdToolError extends Error {
  /** Whether the disk was full. */
  get noSpace(): boolean {
    return /no space left on device/i.test(this.message);
  }
}

async function tool(command: string, args: string[]): Promise<void> {
  try {
    await run(command, args, { timeout: TIMEOUT_MS, env: { PATH: process.env["PATH"] ?? "" } });
  } catch (error) {
    const { stderr, code } = error as { stderr?: string; code?: string };
    if (code === "ENOENT")
      throw new Error(
        `${command} is missing: install the etcd tools next to etcd, as "capstan kubernetes install" does`,
        {
          cause: error,
        },
      );
    throw new EtcdToolError(`${command.slice(command.lastIndexOf("/") + 1)}: ${lastLine(stderr ?? String(error))}`, {
      cause: error,
    });
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.slice(0, 500) ?? "";
}
