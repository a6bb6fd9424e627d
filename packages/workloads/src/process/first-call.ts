import type { ProbeProblem } from "./probe.ts";

/** How long the check may be the last that fails. Doubled with every restart, so that a slow machine does not count as a lost call. */
const FIRST_PATIENCE_MS = 1500;
const LAST_PATIENCE_MS = 60_000;

/**
 * Detects that a program's only call to itself reached another program on the shared port (`Probe.checkedOnce`). A program cannot choose
 * which one it reaches, so the remedy is to restart it.
 */
export class FirstCall {
  #patienceMs = FIRST_PATIENCE_MS;
  #sharesPort = false;
  #lastSinceMs: number | undefined;

  /** A process was started. */
  starts(): void {
    this.#sharesPort = false;
    this.#lastSinceMs = undefined;
  }

  /** Whether the call is lost, by what was probed last; `problem` is undefined when the program is ready. */
  isLost(check: string | undefined, problem: ProbeProblem | undefined, nowMs: number): boolean {
    if (problem === undefined) this.#patienceMs = FIRST_PATIENCE_MS;
    if (problem?.sharesPort === true) this.#sharesPort = true;
    // Nothing is learned from an attempt that others answered.
    if (problem !== undefined && problem.failing.length === 0) return false;
    const [only, ...more] = problem?.failing ?? [];
    if (check === undefined || only !== check || more.length > 0) {
      this.#lastSinceMs = undefined;
      return false;
    }
    this.#lastSinceMs ??= nowMs;
    if (!this.#sharesPort || nowMs - this.#lastSinceMs < this.#patienceMs) return false;
    this.#patienceMs = Math.min(this.#patienceMs * 2, LAST_PATIENCE_MS);
    return true;
  }
}
