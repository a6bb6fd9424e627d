import type { Clock } from "@capstan/apimachinery";

/**
 * Shares the process between all controllers and everything else in it. With the API in the same process a reconcile may need
 * no I/O at all, and a thousand of them in a row would keep sockets and timers waiting; so after a slice of time controllers
 * pause until the event loop went round. In virtual time a slice never ends.
 */
export class Turn {
  readonly #clock: Clock;
  readonly #sliceMs: number;
  #started: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock, sliceMs = 10) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
  }

  /** Whether new work may start in this slice. */
  mayRun(): boolean {
    const now = this.#clock.monotonic();
    if (this.#started === undefined) {
      this.#started = now;
      this.#clock.after(0, () => this.#next());
    }
    return now - this.#started < this.#sliceMs;
  }

  /** Calls back in the next slice. */
  whenFree(resume: () => void): void {
    this.#waiting.push(resume);
  }

  #next(): void {
    this.#started = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
