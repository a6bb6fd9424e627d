/** Work that may be interrupted at every yield; the caller decides what happens in between. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** How many nodes of a schema are looked at between two yields. */
export const NODES_AT_ONCE = 500;

/** Runs work without interruption. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}
