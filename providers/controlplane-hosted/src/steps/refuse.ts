import { findCondition } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf } from "@capstan/capi";
import type { BackupReport } from "@capstan/controlplane";
import { reconcileBackups } from "../backup/backups.ts";
import { placedObject } from "../identity.ts";
import type { HostedControlPlane } from "../kinds/hosted-control-plane.ts";
import type { PlacementState } from "../placement/placement.ts";
import type { OwnedScope } from "../scope.ts";
import type { Progress } from "../status.ts";
import { Outcome, requeueAt, waitFor } from "./outcome.ts";

/** Something that a user must change, or that only time changes. */
export interface Problem {
  reason: string;
  message: string;
}

/** Ends a reconcile with a problem that keeps a new control plane from starting, and a serving one from changing. */
export async function refuse(scope: OwnedScope, problem: Problem): Promise<Outcome> {
  const { object, owner, placement, initialized, backups, context, planes } = scope;
  const kept = initialized ? planes.settled?.get(owner) : undefined;
  const state =
    kept === undefined ? await placement.observe(owner, placedObject(object)) : await placement.ensure(kept);
  if (!initialized || !state.apiReady) return waitFor(scope, problem.reason, problem.message);
  const backup =
    kept === undefined || backups === undefined
      ? undefined
      : await reconcileBackups(object, kept, placement, backups, context);
  const nextAtMs = Math.min(state.recheckAtMs ?? Infinity, backup?.recheckAtMs ?? Infinity);
  return new Outcome(scope, unchanged(scope.current, state, problem, backup), requeueAt(nextAtMs, context));
}

/** The progress of a control plane that serves and does not change. What is not observed now keeps its last condition. */
export function unchanged(
  object: HostedControlPlane,
  { problem: _problem, ...state }: PlacementState,
  { reason, message }: Problem,
  backup: BackupReport = {},
): Progress {
  const known = (type: string): ConditionInput | undefined => findCondition(conditionsOf(object), type);
  const [backedUp, authorities, nodes] = ["BackedUp", "AuthoritiesCurrent", "NodesSupported"].map(known);
  return {
    step: "running",
    state: { ...state, upgrade: { reason, message: `${message}; the running configuration keeps serving` } },
    prepared: true,
    backup: { condition: backedUp, ...backup },
    authorities,
    ...(nodes === undefined ? {} : { nodes: { reason: nodes.reason, message: nodes.message } }),
  };
}
