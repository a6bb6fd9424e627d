import { ApiError, type Clock } from "@capstan/apimachinery";
import type { ClusterKey } from "@capstan/capi";
import { Stopped } from "./progress.ts";

const TIMEOUT_MS = 10_000;
/** How long a cluster that did not answer is left alone. */
const REST_MS = 10_000;
/** Half of the controller's workers, so that a cluster that hangs never holds them all. */
const MAX_IN_FLIGHT = 10;
const FULL_RETRY_MS = 20;

/** Limits concurrent calls and their duration per workload cluster, so that one that hangs does not block the others. */
export class WorkloadCalls {
  readonly #states = new Map<string, { inFlight: number; restUntil: number; cause: string }>();

  /** Runs a call. The server's own errors pass through; silence ends the pass, to be tried again later. */
  async run<T>(cluster: ClusterKey, clock: Clock, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const key = `${cluster.namespace}/${cluster.name}`;
    const state = this.#states.get(key) ?? { inFlight: 0, restUntil: 0, cause: "" };
    this.#states.set(key, state);
    const rest = state.restUntil - clock.monotonic();
    if (rest > 0) throw silent(state.cause, rest);
    if (state.inFlight >= MAX_IN_FLIGHT) throw new Stopped({ step: "later", afterMs: FULL_RETRY_MS });
    state.inFlight++;
    const ending = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () => ending.abort(new Error("no answer within 10 seconds")));
    try {
      return await call(ending.signal);
    } catch (error) {
      if (error instanceof ApiError || error instanceof Stopped) throw error;
      state.restUntil = clock.monotonic() + REST_MS;
      state.cause = error instanceof Error ? error.message : String(error);
      throw silent(state.cause, REST_MS);
    } finally {
      cancel();
      state.inFlight--;
      if (state.inFlight === 0 && state.restUntil <= clock.monotonic()) this.#states.delete(key);
    }
  }
}

function silent(cause: string, retryAfterMs: number): Stopped {
  const message = `Waiting for the workload cluster to take a join token: ${cause}`;
  return new Stopped({ step: "failed", message, certificates: true, retryAfterMs });
}
