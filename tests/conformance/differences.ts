/** A way in which our server answers differently on purpose; docs/differences.md gives the reason under the same name. */
export interface Difference {
  /** Where answers may differ (`body.message`, `headers.vary`); everything else must be equal, and these must not. */
  readonly at: readonly string[];
}

/** All expected differences by name. A difference that no longer shows makes the suite fail. */
export const DIFFERENCES: Readonly<Record<string, Difference>> = {};
