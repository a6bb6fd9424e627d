interface Waiting {
  readonly key: string;
  go(): void;
}

/** Limits concurrent calls per key and in total; further calls wait in order. */
export class InFlight {
  readonly #perKey: number;
  readonly #total: number;
  readonly #running = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #all = 0;
  /** The most that ever ran at a time for one key. */
  peakPerKey = 0;
  peak = 0;

  constructor(limits: { perKey: number; total: number }) {
    this.#perKey = limits.perKey;
    this.#total = limits.total;
  }

  /** Runs `call` when it is its turn; rejects with the signal's reason if it is aborted before. */
  async run<T>(key: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    await this.#enter(key, signal);
    try {
      return await call();
    } finally {
      this.#leave(key);
    }
  }

  #enter(key: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#free(key)) {
      this.#take(key);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        const index = this.#waiting.indexOf(waiting);
        if (index >= 0) this.#waiting.splice(index, 1);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        key,
        go: () => {
          signal.removeEventListener("abort", aborted);
          resolve();
        },
      };
      signal.addEventListener("abort", aborted, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #leave(key: string): void {
    this.#all--;
    const left = (this.#running.get(key) ?? 1) - 1;
    if (left > 0) this.#running.set(key, left);
    else this.#running.delete(key);
    const index = this.#waiting.findIndex((waiting) => this.#free(waiting.key));
    if (index < 0) return;
    const [next] = this.#waiting.splice(index, 1);
    if (next === undefined) return;
    this.#take(next.key);
    next.go();
  }

  #free(key: string): boolean {
    return this.#all < this.#total && (this.#running.get(key) ?? 0) < this.#perKey;
  }

  #take(key: string): void {
    const running = (this.#running.get(key) ?? 0) + 1;
    this.#running.set(key, running);
    this.#all++;
    this.peakPerKey = Math.max(this.peakPerKey, running);
    this.peak = Math.max(this.peak, this.#all);
  }
}
