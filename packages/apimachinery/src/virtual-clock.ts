import type { Clock } from "./clock.ts";

interface Timer {
  at: number;
  seq: number;
  fire: () => void;
}

/** A clock that moves only when advanced, for tests and simulation. Timers fire in order of time, then of creation. */
export class VirtualClock implements Clock {
  #current: number;
  #seq = 0;
  #timers: Timer[] = [];

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#current = startMs;
  }

  now(): number {
    return this.#current;
  }

  monotonic(): number {
    return this.#current;
  }

  after(ms: number, fire: () => void): () => void {
    const timer: Timer = { at: this.#current + Math.max(0, ms), seq: this.#seq++, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((t) => t !== timer);
    };
  }

  /** When the next timer is due, or undefined when none is set. */
  nextTimer(): number | undefined {
    return this.#timers.reduce<number | undefined>(
      (min, t) => (min === undefined || t.at < min ? t.at : min),
      undefined,
    );
  }

  /** Moves time forward by `ms`, firing due timers and letting promises settle between them. */
  async advance(ms: number): Promise<void> {
    const end = this.#current + ms;
    await settle();
    for (;;) {
      const due = this.#takeDue(end);
      if (due === undefined) break;
      this.#current = Math.max(this.#current, due.at);
      due.fire();
      await settle();
    }
    this.#current = end;
  }

  #takeDue(end: number): Timer | undefined {
    let best: Timer | undefined;
    for (const t of this.#timers) {
      if (t.at > end) continue;
      if (best === undefined || t.at < best.at || (t.at === best.at && t.seq < best.seq)) best = t;
    }
    if (best !== undefined) this.#timers = this.#timers.filter((t) => t !== best);
    return best;
  }
}

/** Lets every promise and I/O callback that is ready run. Real loop turns, no real time. */
export async function settle(turns = 8): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}
