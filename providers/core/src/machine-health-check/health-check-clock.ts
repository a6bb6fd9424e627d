import type { Clock } from "@capstan/apimachinery";
import { HEARTBEAT_MS, look, type SleepDetection } from "./sleep-detection.ts";

/** Tracks the time while there are Machines to check, so that periods in which the process did not run are detected. */
export class HealthCheckClock {
  #seen: SleepDetection | undefined;
  #beating = false;

  /** Since when time has been watched; call it at the start of every evaluation. Time without a current view is not watched. */
  awakeSince(clock: Clock, isCurrent: () => boolean): number {
    this.#seen = look(isCurrent() ? this.#seen : undefined, clock.now(), clock.monotonic());
    return this.#seen.awakeSinceMs;
  }

  /** Keeps reading the clocks for as long as `needed` returns true. */
  keepWatching(
    clock: Clock,
    signal: AbortSignal,
    { needed, isCurrent }: { needed: () => boolean; isCurrent: () => boolean },
  ): void {
    if (this.#beating) return;
    this.#beating = true;
    const beat = (): void => {
      if (signal.aborted || !needed()) {
        this.#beating = false;
        // The time until the next evaluation is not watched.
        this.#seen = undefined;
        return;
      }
      this.awakeSince(clock, isCurrent);
      clock.after(HEARTBEAT_MS, beat);
    };
    clock.after(HEARTBEAT_MS, beat);
  }
}
