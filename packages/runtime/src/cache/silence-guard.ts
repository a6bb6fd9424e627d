import type { Clock } from "@capstan/apimachinery";

/** Aborts a stream that stays silent for too long; aborts of the outer signal are passed on. */
export class SilenceGuard {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #outer: AbortSignal;
  readonly #inner = new AbortController();
  readonly #onOuterAbort = (): void => this.#inner.abort(this.#outer.reason);
  #heardAt: number;
  #cancel: () => void;
  #expired = false;

  constructor(clock: Clock, outer: AbortSignal, limitMs: number) {
    this.#clock = clock;
    this.#outer = outer;
    this.#limitMs = limitMs;
    this.#heardAt = clock.monotonic();
    this.#cancel = clock.after(limitMs, () => this.#check());
    outer.addEventListener("abort", this.#onOuterAbort, { once: true });
  }

  /** For the stream. */
  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  /** Whether silence ended the stream. */
  get expired(): boolean {
    return this.#expired;
  }

  heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  /** From now on silence is fine. */
  relax(): void {
    this.#cancel();
  }

  /** The stream is over. */
  dispose(): void {
    this.#cancel();
    this.#outer.removeEventListener("abort", this.#onOuterAbort);
  }

  #check(): void {
    const silent = this.#clock.monotonic() - this.#heardAt;
    if (silent < this.#limitMs) {
      this.#cancel = this.#clock.after(this.#limitMs - silent, () => this.#check());
      return;
    }
    this.#expired = true;
    this.#inner.abort(new Error(`no data received for ${silent} ms`));
  }
}
