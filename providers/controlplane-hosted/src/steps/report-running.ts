import { unsupportedNodes } from "@capstan/controlplane";
import { reconcileBackups } from "../backup/backups.ts";
import { clusterKeyOf, type OwnedScope } from "../scope.ts";
import type { ChosenVersion } from "./choose-version.ts";
import type { Keys } from "./ensure-keys.ts";
import type { FilledCluster } from "./fill-cluster.ts";
import { Outcome, requeueAt } from "./outcome.ts";
import type { Problem } from "./refuse.ts";
import type { RunningComponents } from "./run-components.ts";

/** Nodes that are not supported are checked again after this. */
const NODES_AGAIN_MS = 30_000;

/** What the steps before have found of a running control plane. */
export interface RunningReport {
  running: RunningComponents;
  keys: Keys;
  chosen: ChosenVersion;
  filled: FilledCluster;
  /** Why the backup to restore from is not available. */
  backupProblem: Problem | undefined;
}

/** Takes the backups that are due, and ends the reconcile with all that was found. */
export async function reportRunning(scope: OwnedScope, report: RunningReport): Promise<Outcome> {
  const { object, owner, placement, backups, context, planes } = scope;
  const { running, keys, chosen, filled, backupProblem } = report;
  const { plan, state } = running;
  const prepared = planes.prepared.has(owner);
  const backup =
    backups !== undefined && state.apiReady && prepared
      ? await reconcileBackups(object, plan, placement, backups, context)
      : {};
  const upgrade = chosen.problem ?? state.upgrade ?? backupProblem;
  const nodes =
    planes.workload === undefined
      ? undefined
      : unsupportedNodes(planes.workload, clusterKeyOf(scope), state.version ?? plan.version);
  const progress = {
    step: "running",
    state: { ...state, ...(upgrade === undefined ? {} : { upgrade }) },
    prepared,
    backup,
    authorities: keys.condition,
    nodes,
  } as const;
  const waitsForNodes =
    nodes !== undefined || (upgrade !== undefined && chosen.nodesRefuse()?.reason === upgrade.reason);
  const nodesAtMs = waitsForNodes ? context.clock.now() + NODES_AGAIN_MS : Infinity;
  const nextAtMs = Math.min(
    state.recheckAtMs ?? Infinity,
    backup.recheckAtMs ?? Infinity,
    keys.noticeAtMs,
    filled.recheckAtMs,
    nodesAtMs,
  );
  return new Outcome(scope, progress, requeueAt(nextAtMs, context));
}
