import type { Clock } from "@capstan/apimachinery";

/** Below this many parts a pass costs so little that waiting would only add delay. */
const FEW = 50;
const MS_PER_PART = 0.4;

/**
 * A pass over an object costs in proportion to its parts, and each part's change asks for a pass: together the square. Large
 * objects therefore take a short pause between passes (a fifth of a second at 500 Machines) and see many changes at once; small
 * ones none.
 */
export class Coalescer {
  readonly #last = new Map<string, number>();

  /** How long to wait before the next pass, in milliseconds; 0 when it may begin now. */
  pause(key: string, parts: number, clock: Clock): number {
    if (parts < FEW) return 0;
    const last = this.#last.get(key);
    return last === undefined ? 0 : Math.max(0, last + parts * MS_PER_PART - clock.monotonic());
  }

  /** A pass has ended. */
  passed(key: string, parts: number, clock: Clock): void {
    if (parts < FEW) this.#last.delete(key);
    else this.#last.set(key, clock.monotonic());
  }
}
