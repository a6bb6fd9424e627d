/** The outcome of a reconcile; a thrown error means a retry with back-off. */
export type Result = { readonly type: "done" } | { readonly type: "requeue"; readonly afterMs: number };

const DONE: Result = { type: "done" };

/** Reports that there is nothing to do until a watched object changes. */
export function done(): Result {
  return DONE;
}

/** Requests another reconcile after a while, for conditions that cannot be watched. */
export function requeueAfter(ms: number): Result {
  return { type: "requeue", afterMs: ms };
}

/** Returns the earliest of several results, as Cluster API merges those of its phases. */
export function soonest(...results: readonly Result[]): Result {
  let best = DONE;
  for (const result of results) {
    if (result.type === "done") continue;
    if (best.type === "done" || result.afterMs < best.afterMs) best = result;
  }
  return best;
}

/** An error that a retry cannot fix; the object is not reconciled again until it changes. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TerminalError";
  }
}
