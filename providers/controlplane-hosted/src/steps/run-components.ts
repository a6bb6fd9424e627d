import { requeueAfter } from "@capstan/runtime";
import { ownBackups } from "../backup/own-backups.ts";
import type { RestoreSource } from "../backup/restore.ts";
import type { ControlPlanePlan, PlacementState } from "../placement/placement.ts";
import type { OwnedScope } from "../scope.ts";
import type { Progress } from "../status.ts";
import { Outcome, RETRY_MS } from "./outcome.ts";
import { unchanged } from "./refuse.ts";

/** A plan, and what its placement reports of it. */
export interface RunningComponents {
  plan: ControlPlanePlan;
  state: PlacementState;
}

/** Runs the components as planned. A fully applied plan is remembered: it keeps running while a later spec is rejected. */
export async function runComponents(
  scope: OwnedScope,
  wanted: ControlPlanePlan,
  source: RestoreSource | undefined,
): Promise<RunningComponents | Outcome> {
  const { object, placement, initialized, backups, context } = scope;
  const own = backups === undefined ? undefined : ownBackups(object, wanted, placement, backups, context);
  const plan = own === undefined ? wanted : { ...wanted, backUp: own.backUp, openBackup: own.open };
  let state: PlacementState;
  try {
    state = await placement.ensure(plan);
  } finally {
    await source?.release();
    await own?.release();
  }
  if (state.problem !== undefined) {
    const progress: Progress =
      initialized && state.apiReady
        ? unchanged(scope.current, state, state.problem)
        : { step: "waiting", ...state.problem };
    return new Outcome(scope, progress, requeueAfter(RETRY_MS));
  }
  remember(scope, plan, state);
  return { plan, state };
}

/** A partially applied plan is not one to go back to. */
function remember({ planes }: OwnedScope, plan: ControlPlanePlan, state: PlacementState): void {
  planes.settled ??= new Map();
  if (!state.apiReady || state.upgrade !== undefined || state.version !== plan.version) {
    planes.settled.delete(plan.owner);
    return;
  }
  const { restore: _restore, backUp: _backUp, openBackup: _open, upgradeRefusal: _refusal, ...kept } = plan;
  planes.settled.set(plan.owner, kept);
}
