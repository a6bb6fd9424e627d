/** The result of one reconcile of a KubeadmConfig. */
export type Progress =
  /** Something else has to happen first; a watch requeues the config. */
  | { step: "waiting"; message: string; certificates?: boolean }
  /** The user has to change something. `retryAfterMs` is set if no watch reports the change, `reason` if it is a special one. */
  | { step: "failed"; message: string; certificates?: boolean; retryAfterMs?: number; reason?: string }
  /** Too many calls are in flight: nothing to report, requeue soon. */
  | { step: "later"; afterMs: number }
  /** There is no usable CA or key. */
  | { step: "no-certificates"; message: string }
  /** Data exists; `checkAfterMs` is when its token has to be checked again. */
  | { step: "created"; dataSecretName: string; checkAfterMs?: number };

/** Thrown by a step to end the reconcile early; carries the resulting Progress. */
export class Stopped extends Error {
  readonly progress: Progress;
  constructor(progress: Progress) {
    super(progress.step);
    this.progress = progress;
  }
}

/** Stops the reconcile with an error that the user has to fix. */
export function fail(message: string, retryAfterMs?: number): never {
  throw new Stopped({ step: "failed", message, retryAfterMs });
}
