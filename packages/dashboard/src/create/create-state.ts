/** Progress of creating a cluster. */
export type CreateState =
  | { type: "editing"; failure?: Error }
  | { type: "checking" }
  | { type: "accepted"; failure?: Error }
  | { type: "writing" };

/**
 * Returns the state after a failure. A rejected dry run returns to the form. A failed write is retried as it is, because apply is safe to
 * repeat, while another dry run would be rejected for the objects that exist already.
 */
export function failed(during: "checking" | "writing", failure: Error): CreateState {
  return { type: during === "writing" ? "accepted" : "editing", failure };
}

/** Returns the last failure to show, if any. */
export function failureOf(state: CreateState): Error | undefined {
  return state.type === "editing" || state.type === "accepted" ? state.failure : undefined;
}
