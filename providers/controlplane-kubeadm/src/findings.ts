import type { ConditionInput } from "@capstan/capi";
import type { Plan } from "./plan/step.ts";
import type { WorkloadObservation, WorkloadProblem } from "./workload/workload-side.ts";

/** Why no Machine can be created yet, with the person's next step. */
export interface Blocker {
  readonly reason: string;
  readonly message: string;
}

/** What one reconcile of a KubeadmControlPlane has found out; its status is computed from it. */
export interface Findings {
  /** Keeps the control plane from being created. */
  blocker?: Blocker;
  /** Keeps one that serves from changing. */
  templateProblem?: string;
  certificates?: ConditionInput;
  observation?: WorkloadObservation;
  /** Why Machines are not up to date, by name; only those that are not. */
  outdated?: ReadonlyMap<string, readonly string[]>;
  plan?: Plan;
  addons?: WorkloadProblem;
  deleting?: Blocker;
  /** The object is gone: nothing is left to report. */
  finished?: boolean;
  /** Thrown after the status is written, so that the reconcile is retried. */
  error?: { readonly cause: unknown };
  /** When to reconcile again if nothing that is watched changes earlier. */
  recheckAtMs: number;
}

/** Requests another reconcile at a time in milliseconds since the epoch. */
export function recheckAt(findings: Findings, atMs: number): void {
  findings.recheckAtMs = Math.min(findings.recheckAtMs, atMs);
}
