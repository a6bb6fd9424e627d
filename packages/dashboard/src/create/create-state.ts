/** How far the making of a cluster has come. */
export type CreateState =
  | { type: "editing"; failure?: Error }
  | { type: "checking" }
  | { type: "accepted"; failure?: Error }
  | { type: "writing" };

/**
 * What follows a failure. A refused check is for the form to cure. A write that ended half-way is repeated as it is, because it leaves alone
 * what is there already, while another check would be refused for just that.
 */
export function failed(during: "checking" | "writing", failure: Error): CreateState {
  return { type: during === "writing" ? "accepted" : "editing", failure };
}

/** What there is to tell of the last failure. */
export function failureOf(state: CreateState): Error | undefined {
  return state.type === "editing" || state.type === "accepted" ? state.failure : undefined;
}
