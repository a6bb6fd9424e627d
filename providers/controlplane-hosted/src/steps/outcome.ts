import { done, type ReconcileContext, type Result, requeueAfter } from "@capstan/runtime";
import type { HostedControlPlane } from "../kinds/hosted-control-plane.ts";
import type { ControlPlaneScope } from "../scope.ts";
import type { Progress } from "../status.ts";

/** What the last step of a reconcile found, and when to reconcile again. A step that returns none lets the next one follow. */
export class Outcome {
  /** The object with what this reconcile has written to its spec. */
  readonly object: HostedControlPlane;
  /** What the status is computed from; undefined if the status stays as it is. */
  readonly progress: Progress | undefined;
  readonly result: Result;
  /** An error that is thrown once the status is written, so that the reconcile is retried. */
  readonly error: { readonly cause: unknown } | undefined;

  constructor(
    { current }: ControlPlaneScope,
    progress: Progress | undefined,
    result: Result = done(),
    error?: { readonly cause: unknown },
  ) {
    this.object = current;
    this.progress = progress;
    this.result = result;
    this.error = error;
  }
}

/** Returns the outcome of a control plane that waits for a change of something that is watched. */
export function waitFor(scope: ControlPlaneScope, reason: string, message: string): Outcome {
  return new Outcome(scope, { step: "waiting", reason, message });
}

/** Requeues at a time in milliseconds since the epoch; an event may trigger a reconcile earlier. */
export function requeueAt(atMs: number, { clock }: ReconcileContext): Result {
  const ms = atMs - clock.now();
  return Number.isFinite(ms) ? requeueAfter(Math.max(ms, 0)) : done();
}

/** A problem whose end no watch reports (a port in use, a missing program) is checked again after this. */
export const RETRY_MS = 5_000;
