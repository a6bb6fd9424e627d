import type { Clock } from "../clock.ts";
import { addressGroup } from "./address-group.ts";

/** How many attempts an address may fail within a time. */
export interface AttemptLimitOptions {
  readonly max: number;
  readonly windowMs: number;
  /** Addresses that are remembered; the one that tried least recently is forgotten first. */
  readonly maxAddresses: number;
}

/** Counts failed attempts per address, so that one address cannot lock out another. */
export class AttemptLimit {
  readonly #options: AttemptLimitOptions;
  readonly #clock: Clock;
  readonly #attempts = new Map<string, Attempt[]>();

  constructor(options: AttemptLimitOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /**
   * Begins an attempt; undefined when the address has to wait. It counts as failed until the returned function is called, so that
   * attempts at the same time count too.
   */
  begin(address: string): (() => void) | undefined {
    const group = addressGroup(address);
    const now = this.#clock.monotonic();
    const recent = (this.#attempts.get(group) ?? []).filter(({ at }) => at >= now - this.#options.windowMs);
    if (recent.length >= this.#options.max) return undefined;
    const attempt: Attempt = { at: now };
    this.#attempts.delete(group);
    this.#attempts.set(group, [...recent, attempt]);
    for (const oldest of this.#attempts.keys()) {
      if (this.#attempts.size <= this.#options.maxAddresses) break;
      this.#attempts.delete(oldest);
    }
    return () => {
      const left = (this.#attempts.get(group) ?? []).filter((other) => other !== attempt);
      if (left.length === 0) this.#attempts.delete(group);
      else this.#attempts.set(group, left);
    };
  }
}

interface Attempt {
  readonly at: number;
}
