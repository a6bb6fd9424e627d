/** How a reconcile ended; a thrown error means: try again with backoff. */
export type Result = { readonly type: "done" } | { readonly type: "requeue"; readonly afterMs: number };

const DONE: Result = { type: "done" };

/** Nothing more to do until something changes. */
export function done(): Result {
  return DONE;
}

/** Come back after a while even if nothing changes: for what cannot be watched. */
export function requeueAfter(ms: number): Result {
  return { type: "requeue", afterMs: ms };
}

/** The earlier of several results, as Cluster API merges those of its phases. */
export function soonest(...results: readonly Result[]): Result {
  let best = DONE;
  for (const result of results) {
    if (result.type === "done") continue;
    if (best.type === "done" || result.afterMs < best.afterMs) best = result;
  }
  return best;
}

/** An error that trying again cannot cure; the object is left alone until it changes. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TerminalError";
  }
}
