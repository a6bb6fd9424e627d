/** kubeadm gives a component's liveness probe eight failures of up to fifteen seconds each. */
const HUNG_AFTER_MS = 120_000;
/** Of a machine that was asleep or short of everything, time alone says nothing. */
const HUNG_AFTER_ATTEMPTS = 8;

/** Detects a hung program: one that answered its probes before and no longer answers at all, unlike one that is slow or unhealthy. */
export class Silence {
  #sinceMs: number | undefined;
  #attempts = 0;

  /** An answer, whatever it says. */
  broken(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#attempts = 0;
  }

  /** No answer. Whether it hangs: one that never answered may still be starting. */
  heard(nowMs: number): boolean {
    this.#attempts++;
    return this.#attempts >= HUNG_AFTER_ATTEMPTS && this.lastedMs(nowMs) >= HUNG_AFTER_MS;
  }

  lastedMs(nowMs: number): number {
    return this.#sinceMs === undefined ? 0 : nowMs - this.#sinceMs;
  }
}
