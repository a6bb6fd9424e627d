import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { EtcdMember } from "../components/context.ts";
import { initialCluster } from "../components/etcd.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 10 * 60_000;
/** Watches of clients must not see revisions again that they have seen before the loss. */
const BUMP_REVISION = "1000000000";

/** Where etcdctl finds the key it is let in with. */
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

/** Makes a member's data folder from a snapshot. The folder must not exist. */
export async function restoreSnapshot(
  binDir: string,
  file: string,
  dataDir: string,
  member: EtcdMember,
  members: readonly EtcdMember[],
): Promise<void> {
  await rm(dataDir, { recursive: true, force: true });
  await tool(join(binDir, "etcdutl"), [
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
  ]);
}

/** The version an etcd program says it is. */
export async function etcdVersionOf(binDir: string): Promise<string> {
  const { stdout } = await run(join(binDir, "etcd"), ["--version"], { timeout: TIMEOUT_MS });
  return stdout.split("\n")[0] ?? "";
}

async function tool(command: string, args: string[]): Promise<void> {
  try {
    await run(command, args, { timeout: TIMEOUT_MS, env: { PATH: process.env["PATH"] ?? "" } });
  } catch (error) {
    const { stderr, code } = error as { stderr?: string; code?: string };
    if (code === "ENOENT")
      throw new Error(`${command} is missing: install the etcd tools beside etcd (capstan kubernetes install does)`, {
        cause: error,
      });
    throw new Error(`${command.slice(command.lastIndexOf("/") + 1)}: ${lastLine(stderr ?? String(error))}`, {
      cause: error,
    });
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.slice(0, 500) ?? "";
}
