import { type RestoreSource, restoreSource } from "../backup/restore.ts";
import type { OwnedScope } from "../scope.ts";
import { type Outcome, waitFor } from "./outcome.ts";
import type { Problem } from "./refuse.ts";

/** The backup of `spec.etcd.restoreFrom`. */
export interface FoundBackup {
  source?: RestoreSource;
  /** Why the backup is not available to a control plane that has served. */
  problem?: Problem;
}

/** Finds the backup to restore from. A control plane that has served continues to run without it. */
export async function findBackup(scope: OwnedScope): Promise<FoundBackup | Outcome> {
  const found = await restoreSource(scope.object, scope.backups, scope.context);
  if (found === undefined) return {};
  if (!("problem" in found)) return { source: found };
  if (!scope.initialized) return waitFor(scope, "BackupNotFound", found.problem);
  // It may have been restored long ago, or never: only the user knows.
  const message = `${found.problem}; the current data keeps serving. Correct spec.etcd.restoreFrom, or remove it if the backup has been restored`;
  return { problem: { reason: "BackupNotFound", message } };
}
