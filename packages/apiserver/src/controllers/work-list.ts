import { type Clock, isReason } from "@capstan/apimachinery";

const CONCURRENCY = 16;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 60_000;

/**
 * A queue of keys to process. A key is processed by one run at a time; one added meanwhile is processed again. Failures are retried
 * with increasing delay. Holds nothing and no timer while there is nothing to do.
 */
export class WorkList {
  readonly #clock: Clock;
  readonly #run: (key: string) => Promise<void>;
  readonly #onError: (key: string, error: unknown) => void;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, { count: number; cancel: () => void }>();
  #scheduled = false;
  #stopped = false;

  constructor(clock: Clock, run: (key: string) => Promise<void>, onError: (key: string, error: unknown) => void) {
    this.#clock = clock;
    this.#run = run;
    this.#onError = onError;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#waiting.add(key);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#start();
    });
  }

  idle(): boolean {
    return this.#waiting.size === 0 && this.#running.size === 0 && this.#failures.size === 0;
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
    for (const { cancel } of this.#failures.values()) cancel();
    this.#failures.clear();
  }

  #start(): void {
    for (const key of this.#waiting) {
      if (this.#running.size >= CONCURRENCY) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#work(key);
    }
  }

  async #work(key: string): Promise<void> {
    try {
      await this.#run(key);
      this.#failures.get(key)?.cancel();
      this.#failures.delete(key);
    } catch (error) {
      if (!this.#stopped) this.#retryLater(key, error);
    } finally {
      this.#running.delete(key);
      this.#start();
    }
  }

  #retryLater(key: string, error: unknown): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    // Another client wrote in between: routine, not worth a log line.
    if (!isReason(error, "Conflict")) this.#onError(key, error);
    const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (count - 1));
    this.#failures.get(key)?.cancel();
    this.#failures.set(key, { count, cancel: this.#clock.after(delay, () => this.add(key)) });
  }
}
