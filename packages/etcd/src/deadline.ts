import type { Clock } from "@capstan/apimachinery";

/** Aborts its signal when the time is over, measured by the injected clock. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly clock: Clock;
  private readonly ms: number;
  private readonly error: Error;
  private cancel: () => void = () => undefined;

  constructor(clock: Clock, ms: number, error: Error) {
    this.clock = clock;
    this.ms = ms;
    this.error = error;
    this.again();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Restarts the timer after progress. */
  again(): void {
    this.cancel();
    this.cancel = this.clock.after(this.ms, () => this.controller.abort(this.error));
  }

  end(): void {
    this.cancel();
  }

  /** Why something failed: that the time was over says more than that a connection was cut for it. */
  reasonOf(error: unknown): unknown {
    return this.signal.aborted ? this.error : error;
  }
}
