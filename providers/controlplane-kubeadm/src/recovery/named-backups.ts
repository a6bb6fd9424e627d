import type { ClusterKey } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { ControlPlaneRecovery } from "../kinds/control-plane-recovery.ts";

/** The backups that recoveries of a Cluster name or have chosen: they are never pruned. */
export function namedBackups({ namespace, name }: ClusterKey, context: ReconcileContext): ReadonlySet<string> {
  if (!context.cache.synced(ControlPlaneRecovery)) return new Set();
  const recoveries = context.cache.list(ControlPlaneRecovery, { namespace });
  return new Set(
    recoveries
      .filter(({ spec }) => spec.clusterName === name)
      .flatMap(({ spec, status }) => [spec.backup ?? [], status?.savedBackup ?? [], status?.plan?.backup ?? []].flat()),
  );
}
