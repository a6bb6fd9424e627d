/** Since when time has been watched without a gap. */
export interface Wakefulness {
  readonly nowMs: number;
  readonly monotonicMs: number;
  /** Time before this moment was not watched, so it counts against nobody. */
  readonly awakeSinceMs: number;
}

/** How often to look at the clock while there is something to judge. */
export const HEARTBEAT_MS = 15_000;

/** A gap longer than this between two looks means that the process did not run. */
const LONGEST_GAP_MS = 3 * HEARTBEAT_MS;

/** Clocks are corrected by small steps all the time. */
const LARGEST_CORRECTION_MS = 10_000;

/**
 * Notes a look at both clocks. Some systems stop the monotonic clock during sleep and others do not, so both signs count: the two
 * clocks drift apart, or nobody looked for longer than the heartbeat allows. The first look is a start and counts as waking up.
 */
export function look(before: Wakefulness | undefined, nowMs: number, monotonicMs: number): Wakefulness {
  const seen = { nowMs, monotonicMs };
  if (before === undefined) return { ...seen, awakeSinceMs: nowMs };
  const passed = nowMs - before.nowMs;
  const ran = monotonicMs - before.monotonicMs;
  const slept = ran > LONGEST_GAP_MS || passed - ran > LARGEST_CORRECTION_MS;
  // A clock set back would otherwise leave the grace period in the future.
  const setBack = nowMs < before.awakeSinceMs;
  return { ...seen, awakeSinceMs: slept || setBack ? nowMs : before.awakeSinceMs };
}
