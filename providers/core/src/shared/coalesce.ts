import type { Clock } from "@capstan/apimachinery";

/** Below this many parts a pass costs so little that waiting would only add delay. */
const FEW = 50;
const MS_PER_PART = 0.4;

/**
 * Delays reconciles of large objects (0.2 s at 500 Machines) so that one handles many changes. Their cost grows with the number of parts,
 * and each part's change triggers one. Small objects are not delayed.
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
