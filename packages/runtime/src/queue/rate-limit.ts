import type { Clock } from "@capstan/apimachinery";

/** Decides how long an item waits before it is retried. */
export interface RetryLimiter {
  /** Records a failure and returns the wait in milliseconds. */
  when(key: string): number;
  /** Forgets an item's failures. */
  forget(key: string): void;
  /** How often the item has failed in a row. */
  failures(key: string): number;
}

/** Limits of retries. The defaults are client-go's, except for a higher rate, because one process here does the work of five. */
export interface RetryOptions {
  readonly firstMs?: number | undefined;
  readonly lastMs?: number | undefined;
  /** Retries per second of the whole queue beyond the burst. */
  readonly perSecond?: number | undefined;
  readonly burst?: number | undefined;
}

interface Failing {
  count: number;
  readonly since: number;
}

/**
 * Creates a limiter with exponential back-off per item from 5 ms to 1000 s, and a token bucket over all retries of a queue. An item never
 * waits longer than it has been failing, because a burst of events would otherwise raise its back-off to minutes at once.
 */
export function retryLimiter(clock: Clock, options: RetryOptions = {}): RetryLimiter {
  const { firstMs = 5, lastMs = 1_000_000, perSecond = 100, burst = 1000 } = options;
  const failures = new Map<string, Failing>();
  const bucket = new TokenBucket(clock, perSecond, burst);
  return {
    when(key) {
      const now = clock.monotonic();
      const failing = failures.get(key) ?? { count: 0, since: now };
      failures.set(key, failing);
      const doubled = firstMs * 2 ** Math.min(failing.count++, 60);
      return Math.max(Math.min(doubled, now - failing.since + firstMs, lastMs), bucket.reserveMs());
    },
    forget: (key) => void failures.delete(key),
    failures: (key) => failures.get(key)?.count ?? 0,
  };
}

/** Tokens that come back at a steady rate; taking one that is not there yet says how long to wait for it. */
class TokenBucket {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor(clock: Clock, perSecond: number, burst: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = clock.monotonic();
  }

  /** Takes a token and gives the wait until it is there; 0 if it is already. */
  reserveMs(): number {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000;
  }
}
