import type { Clock } from "@capstan/apimachinery";

/** Aborts its signal when the time is over, measured by the injected clock. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #error: Error;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, ms: number, error: Error) {
    this.#clock = clock;
    this.#ms = ms;
    this.#error = error;
    this.again();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the timer after progress. */
  again(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#ms, () => this.#controller.abort(this.#error));
  }

  end(): void {
    this.#cancel();
  }

  /** The cause of a failure: the timeout says more than the closed connection that resulted from it. */
  reasonOf(error: unknown): unknown {
    return this.signal.aborted ? this.#error : error;
  }
}
