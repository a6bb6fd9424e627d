import { type EtcdMember, EtcdToolError, restoreSnapshot } from "@capstan/etcd";
import { PlacementProblem } from "../placement-problem.ts";

/** Restores a member's data from a snapshot; a bad backup or a full disk is reported as a PlacementProblem. */
export async function restoreBackup(
  binDir: string,
  file: string,
  dataDir: string,
  member: EtcdMember,
  members: readonly EtcdMember[],
  backup: string,
): Promise<void> {
  try {
    await restoreSnapshot(binDir, file, dataDir, member, members);
  } catch (error) {
    if (!(error instanceof EtcdToolError)) throw error;
    if (error.noSpace)
      throw new PlacementProblem("DiskFull", `${error.message}; free space in the file system of the data directory`);
    throw new PlacementProblem(
      "BackupNotUsable",
      `spec.etcd.restoreFrom: ${backup} cannot be restored: ${error.message}; choose another backup`,
    );
  }
}
