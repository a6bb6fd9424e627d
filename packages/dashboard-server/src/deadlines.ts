import type { Clock } from "@capstan/apimachinery";

/** Timers never fire more often than this, however many deadlines pass. */
const LEAST_MS = 1000;

/** Tracks when items must be re-evaluated without any event, with one timer for all of them. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #due: (key: string) => void;
  readonly #times = new Map<string, number>();
  #cancel: (() => void) | undefined;
  #wakeAt = Number.POSITIVE_INFINITY;

  /** Calls `due` once with each key whose deadline has passed. */
  constructor(clock: Clock, due: (key: string) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  /** Sets or clears the deadline of a key. */
  set(key: string, atMs: number | undefined): void {
    if (atMs === undefined) {
      this.#times.delete(key);
      return;
    }
    this.#times.set(key, atMs);
    this.#arm(atMs);
  }

  stop(): void {
    this.#cancel?.();
    this.#times.clear();
    this.#cancel = undefined;
    this.#wakeAt = Number.POSITIVE_INFINITY;
  }

  #arm(atMs: number): void {
    if (atMs >= this.#wakeAt) return;
    this.#cancel?.();
    this.#wakeAt = atMs;
    this.#cancel = this.#clock.after(Math.max(LEAST_MS, atMs - this.#clock.now()), () => this.#wake());
  }

  #wake(): void {
    this.#cancel = undefined;
    this.#wakeAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    const passed = [...this.#times].filter(([, atMs]) => atMs <= now).map(([key]) => key);
    for (const key of passed) this.#times.delete(key);
    for (const key of passed) this.#due(key);
    const next = Math.min(...this.#times.values());
    if (Number.isFinite(next)) this.#arm(next);
  }
}
