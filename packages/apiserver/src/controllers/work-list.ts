import { type Clock, isReason } from "@capstan/apimachinery";

const CONCURRENCY = 16;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 60_000;

/**
 * Keys that need a look. A key is worked on by one run at a time; one added meanwhile is looked at again. Failures are repeated
 * with growing delay. Holds nothing and no timer while there is nothing to do.
 */
export class WorkList {
  private readonly clock: Clock;
  private readonly run: (key: string) => Promise<void>;
  private readonly onError: (key: string, error: unknown) => void;
  private readonly waiting = new Set<string>();
  private readonly running = new Set<string>();
  private readonly failures = new Map<string, { count: number; cancel: () => void }>();
  private scheduled = false;
  private stopped = false;

  constructor(clock: Clock, run: (key: string) => Promise<void>, onError: (key: string, error: unknown) => void) {
    this.clock = clock;
    this.run = run;
    this.onError = onError;
  }

  add(key: string): void {
    if (this.stopped) return;
    this.waiting.add(key);
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.start();
    });
  }

  idle(): boolean {
    return this.waiting.size === 0 && this.running.size === 0 && this.failures.size === 0;
  }

  stop(): void {
    this.stopped = true;
    this.waiting.clear();
    for (const { cancel } of this.failures.values()) cancel();
    this.failures.clear();
  }

  private start(): void {
    for (const key of this.waiting) {
      if (this.running.size >= CONCURRENCY) return;
      if (this.running.has(key)) continue;
      this.waiting.delete(key);
      this.running.add(key);
      void this.work(key);
    }
  }

  private async work(key: string): Promise<void> {
    try {
      await this.run(key);
      this.failures.get(key)?.cancel();
      this.failures.delete(key);
    } catch (error) {
      if (!this.stopped) this.retryLater(key, error);
    } finally {
      this.running.delete(key);
      this.start();
    }
  }

  private retryLater(key: string, error: unknown): void {
    const count = (this.failures.get(key)?.count ?? 0) + 1;
    // Somebody else wrote in between: ordinary life, not worth a line.
    if (!isReason(error, "Conflict")) this.onError(key, error);
    const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (count - 1));
    this.failures.get(key)?.cancel();
    this.failures.set(key, { count, cancel: this.clock.after(delay, () => this.add(key)) });
  }
}
