/** Since when the process has observed the time without a gap. */
export interface SleepDetection {
  readonly nowMs: number;
  readonly monotonicMs: number;
  /** Time before this moment was not observed, so no timeout counts it. */
  readonly awakeSinceMs: number;
}

/** How often the clocks are read while there are Machines to check. */
export const HEARTBEAT_MS = 15_000;

/** A gap longer than this between two checks means that the process did not run. */
const LONGEST_GAP_MS = 3 * HEARTBEAT_MS;

/** Clocks are corrected by small steps all the time. */
const LARGEST_CORRECTION_MS = 10_000;

/**
 * Records a reading of both clocks and detects whether the process slept: the clocks drifted apart, or too much time passed since the last
 * reading. (Some systems stop the monotonic clock during sleep.) The first reading counts as waking up.
 */
export function look(before: SleepDetection | undefined, nowMs: number, monotonicMs: number): SleepDetection {
  const seen = { nowMs, monotonicMs };
  if (before === undefined) return { ...seen, awakeSinceMs: nowMs };
  const passed = nowMs - before.nowMs;
  const ran = monotonicMs - before.monotonicMs;
  const slept = ran > LONGEST_GAP_MS || passed - ran > LARGEST_CORRECTION_MS;
  // A clock set back would otherwise leave the grace period in the future.
  const setBack = nowMs < before.awakeSinceMs;
  return { ...seen, awakeSinceMs: slept || setBack ? nowMs : before.awakeSinceMs };
}
