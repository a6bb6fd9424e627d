import type { DialGate } from "@capstan/apimachinery/foreign";
import type { BackupStore } from "@capstan/backup";
import type { ReconcileContext } from "@capstan/runtime";
import type { HostedControlPlane } from "../kinds/hosted-control-plane.ts";
import type { ControlPlanePlan, Placement } from "../placement/placement.ts";
import { backupStore, takeBackup } from "./backups.ts";

/** Backups that a placement takes before it changes something, and restores if the change fails. */
export interface OwnBackups {
  backUp: NonNullable<ControlPlanePlan["backUp"]>;
  open: NonNullable<ControlPlanePlan["openBackup"]>;
  /** Releases the files that were opened. */
  release(): Promise<void>;
}

/** Returns the functions with which a placement takes and opens backups of one control plane. */
export function ownBackups(
  object: HostedControlPlane,
  plan: ControlPlanePlan,
  placement: Placement,
  { dir, gate }: { dir: string; gate: DialGate },
  context: ReconcileContext,
): OwnBackups {
  const opened: { release(): Promise<void> }[] = [];
  const store = async (): Promise<BackupStore> => {
    const found = await backupStore(object, { dir, gate }, context);
    if ("problem" in found) throw new Error(found.problem);
    return found;
  };
  return {
    backUp: async (label) => await takeBackup(plan, placement, await store(), dir, context.clock.now(), label),
    open: async (name) => {
      const snapshot = await (await store()).snapshot(plan.owner, name);
      opened.push(snapshot);
      return snapshot.file;
    },
    release: async () => {
      for (const each of opened.splice(0)) await each.release();
    },
  };
}
