import type { Clock } from "@capstan/apimachinery";

/** How long a higher rank may be passed over before it goes first once, so that it is never starved. */
const PATIENCE_MS = 250;
/** Rounds of the event loop at least this long count as load. */
const BUSY_ROUND_MS = 20;
const HOLD_ROUNDS = 5;
const MAX_HOLD_MS = 1000;
/** What was measured longer ago says nothing about now. */
const FRESH_MS = 1000;

interface Waiting {
  readonly rank: number;
  readonly since: number;
  readonly resume: () => void;
}

/**
 * Shares the process between all controllers and everything else in it. With the API in the same process a reconcile may need no I/O, and
 * thousands of them in a row would starve sockets and timers; so controllers pause after each time slice until the event loop has turned.
 *
 * Under load, controllers of a lower rank run first: those of a higher rank aggregate their changes, and one aggregation over many changes
 * is cheaper than one after each. Without load, the rank has no effect.
 */
export class FairScheduler {
  readonly #clock: Clock;
  readonly #sliceMs: number;
  #started: number | undefined;
  #waiting: Waiting[] = [];
  /** Smoothed length of a round of the event loop, and when it was last known. */
  #rounds = { at: Number.NEGATIVE_INFINITY, ms: 0 };
  /** Ranks up to this one need not yield in this slice. */
  #favoured = 0;

  constructor(clock: Clock, sliceMs = 10) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
  }

  /** Whether new work of a rank may start in this slice. */
  mayRun(rank = 0): boolean {
    const now = this.#clock.monotonic();
    if (this.#started === undefined) {
      this.#started = now;
      this.#clock.after(0, () => this.#next());
    }
    if (now - this.#started >= this.#sliceMs) return false;
    return rank <= this.#favoured || !this.#waiting.some((other) => other.rank < rank);
  }

  /** Calls back in a later slice. */
  whenFree(resume: () => void, rank = 0): void {
    this.#waiting.push({ rank, since: this.#clock.monotonic(), resume });
  }

  /** How long a change may wait for other changes to join it; 0 without load. */
  holdMs(rank: number): number {
    if (rank === 0 || this.#clock.monotonic() - this.#rounds.at > FRESH_MS) return 0;
    return this.#rounds.ms < BUSY_ROUND_MS ? 0 : Math.min(MAX_HOLD_MS, this.#rounds.ms * HOLD_ROUNDS);
  }

  #next(): void {
    const now = this.#clock.monotonic();
    this.#rounds = { at: now, ms: this.#rounds.ms * 0.8 + (now - (this.#started ?? now)) * 0.2 };
    this.#started = undefined;
    const overdue = this.#waiting.filter(({ since }) => now - since >= PATIENCE_MS);
    this.#favoured = Math.max(0, ...overdue.map(({ rank }) => rank));
    const place = (entry: Waiting): number => (overdue.includes(entry) ? -1 : entry.rank);
    this.#waiting.sort((a, b) => place(a) - place(b));
    // A controller that does not fit into this slice keeps its place in the queue and its waiting time.
    for (let turns = this.#waiting.length; turns > 0; turns--) {
      const [first] = this.#waiting;
      if (first === undefined || !this.mayRun(first.rank)) return;
      this.#waiting.shift();
      first.resume();
    }
  }
}
