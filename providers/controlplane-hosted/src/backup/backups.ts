import type { BackupStore } from "@capstan/backup";
import {
  BACKUP_ANNOTATION,
  type BackupPlace,
  type BackupReport,
  keepBackups,
  openBackupStore,
  takeBackup as take,
} from "@capstan/controlplane";
import type { ReconcileContext } from "@capstan/runtime";
import { HostedControlPlane } from "../kinds/hosted-control-plane.ts";
import type { ControlPlanePlan, Placement } from "../placement/placement.ts";
import { describeControlPlane } from "./description.ts";

const FIELD = "spec.etcd.backup";

/** Returns the store for the backups of a control plane, or why it cannot be used. */
export async function backupStore(
  { metadata: { namespace = "" }, spec }: HostedControlPlane,
  place: BackupPlace,
  context: ReconcileContext,
): Promise<BackupStore | { problem: string }> {
  return await openBackupStore({ namespace, settings: spec.etcd?.backup, field: FIELD }, place, context);
}

/** Takes a backup of a running control plane and returns its name. */
export async function takeBackup(
  plan: ControlPlanePlan,
  placement: Placement,
  store: BackupStore,
  dir: string,
  nowMs: number,
  label?: string,
): Promise<string> {
  return await take(subjectOf(plan, placement), store, dir, nowMs, label);
}

/** Takes a backup if one is due, deletes old ones and reports the result. */
export async function reconcileBackups(
  object: HostedControlPlane,
  plan: ControlPlanePlan,
  placement: Placement,
  place: BackupPlace,
  context: ReconcileContext,
): Promise<BackupReport> {
  const { metadata, spec, status } = object;
  return await keepBackups(
    {
      ...subjectOf(plan, placement),
      namespace: metadata.namespace ?? "",
      settings: spec.etcd?.backup,
      field: FIELD,
      createdMs: Date.parse(metadata.creationTimestamp ?? "") || context.clock.now(),
      requested: metadata.annotations?.[BACKUP_ANNOTATION] !== undefined,
      known: status?.backup,
      named: namedBackups(object, context),
      answered: async () => {
        await context.client.patch(object, { metadata: { annotations: { [BACKUP_ANNOTATION]: null } } });
      },
    },
    place,
    context,
  );
}

function subjectOf(plan: ControlPlanePlan, placement: Placement) {
  return {
    owner: plan.owner,
    snapshot: async (file: string): Promise<void> => {
      if (placement.snapshot === undefined)
        throw new Error("this placement does not support snapshots of etcd; back up its storage instead");
      await placement.snapshot(plan, file);
    },
    describe: () => Promise.resolve(describeControlPlane(plan)),
  };
}

/** The backups of a control plane that it or another one of its namespace names in `spec.etcd.restoreFrom`. */
function namedBackups({ metadata: { namespace, name } }: HostedControlPlane, context: ReconcileContext): Set<string> {
  const named = new Set<string>();
  for (const { metadata, spec } of context.cache.list(HostedControlPlane, { namespace })) {
    const from = spec.etcd?.restoreFrom;
    if (from !== undefined && (from.controlPlane ?? metadata.name) === name) named.add(from.backup);
  }
  return named;
}
