import {
  type Approval,
  after,
  hasSameSource,
  planRecovery,
  type RecoveryRecord,
  sourceText,
  type Wish,
} from "./record.ts";
import { NotRestorable, type RecoveryTarget } from "./target.ts";

const REFUSED_FOR_GOOD =
  "It was approved already, and an approval never applies to what happens later: create another ControlPlaneRecovery when there is something to recover";

const ANOTHER_PLAN = "The plan has changed since it was approved.";

/** Where one reconcile of a recovery has come to. */
export interface Advance {
  readonly record: RecoveryRecord;
  /** What it waits for, or why it is refused. */
  readonly message: string;
  /** Nothing more to do until something changes. */
  readonly waits: boolean;
}

/** Does the work of a record's phase. The caller stores the next record before it calls this again. */
export async function advance(record: RecoveryRecord, target: RecoveryTarget, wish: Wish & Approval): Promise<Advance> {
  const go = (next: RecoveryRecord, message = ""): Advance => ({ record: next, message, waits: false });
  const wait = (message: string): Advance => ({ record, message, waits: true });
  switch (record.phase) {
    case "Planning":
    case "Refused":
    case "WaitingForApproval": {
      const plan = planRecovery(await target.survey(), wish);
      const refuse = (why: string): Advance => ({
        record: after(record, { type: "refused" }),
        message: wish.approved ? `${why}. ${REFUSED_FOR_GOOD}` : why,
        waits: true,
      });
      if ("refused" in plan) return refuse(plan.refused);
      const planned = after(record, { type: "planned", plan });
      const replanned = { record: planned, message: "", waits: planned.phase === record.phase };
      if (record.phase !== "WaitingForApproval" || !wish.approved) return replanned;
      const isAnother = wish.approvedPlan !== undefined && wish.approvedPlan !== record.plan.digest;
      if (isAnother) return { ...replanned, message: ANOTHER_PLAN };
      // Members may have come back since the plan was shown, and the approval is one of that plan.
      if (hasSameSource(record.plan, plan)) return go(after(record, { type: "approved" }));
      if (wish.approvedPlan !== undefined) return { ...replanned, message: ANOTHER_PLAN };
      return refuse(
        `the plan was to restore ${sourceText(record.plan)}, but the data would come from ${sourceText(plan)} now`,
      );
    }
    case "Saving":
      await target.hold();
      return go(after(record, { type: "saved", backup: await target.save(record.plan) }));
    case "Verifying": {
      // Held only once nothing is missing, as a control plane that still works goes on working if its backup is damaged.
      const digest = await verified(record.savedBackup, target);
      if (typeof digest !== "string") {
        await target.release();
        await target.cleanUp();
        const message = `${digest.message}. No Machine has been deleted. ${REFUSED_FOR_GOOD}`;
        return { record: after(record, { type: "refused" }), message, waits: true };
      }
      await target.hold();
      return go(after(record, { type: "verified", digest }));
    }
    case "Removing": {
      await target.hold();
      const left = await target.remove(undefined);
      if (left.length > 0) return wait(`Waiting for the deletion of Machines ${left.join(", ")}`);
      return go(after(record, { type: "removed" }));
    }
    case "Starting": {
      await target.hold();
      if (record.machine === undefined) return go(after(record, { type: "created", machine: target.newName() }));
      await target.start(record.machine, record.savedBackup, record.digest);
      const missing = await target.waitsFor(record.machine);
      if (missing !== undefined) return wait(missing);
      await target.removeLostNodes();
      return go(after(record, { type: "started" }));
    }
    case "Scaling": {
      await target.release();
      // The first Machine has its data.
      await target.cleanUp();
      const missing = target.missing();
      return missing === undefined ? go(after(record, { type: "scaled" })) : wait(missing);
    }
    case "Done":
      await target.release();
      await target.cleanUp();
      return wait("");
  }
}

async function verified(backup: string, target: RecoveryTarget): Promise<string | NotRestorable> {
  try {
    return await target.verify(backup);
  } catch (error) {
    if (error instanceof NotRestorable) return error;
    throw error;
  }
}
