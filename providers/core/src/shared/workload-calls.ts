import { ApiError, type Clock } from "@capstan/apimachinery";
import type { ClusterKey } from "@capstan/capi";

const TIMEOUT_MS = 10_000;
const MAX_IN_FLIGHT = 20;
const BUSY_MS = 100;
const REST_MS = 10_000;

/** Thrown if a workload cluster does not respond or has too many calls in flight; retry later. */
export class WorkloadUnavailable extends Error {
  readonly retryMs: number;

  constructor(message: string, retryMs: number, options?: ErrorOptions) {
    super(message, options);
    this.name = "WorkloadUnavailable";
    this.retryMs = retryMs;
  }
}

interface State {
  inFlight: number;
  restUntil: number;
}

/**
 * Limits calls to each workload cluster: ten seconds per call, twenty at a time, and a pause after a cluster did not respond, so that its
 * Machines never block all workers of a controller.
 */
export class WorkloadCalls {
  readonly #clock: Clock;
  readonly #states = new Map<string, State>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs a call; answers of the server, errors included, pass through, silence becomes WorkloadUnavailable. */
  async run<T>(cluster: ClusterKey, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const key = `${cluster.namespace}/${cluster.name}`;
    const state = this.#states.get(key) ?? { inFlight: 0, restUntil: 0 };
    this.#states.set(key, state);
    const rest = state.restUntil - this.#clock.monotonic();
    if (rest > 0) throw new WorkloadUnavailable("the workload cluster did not answer a moment ago", rest);
    if (state.inFlight >= MAX_IN_FLIGHT)
      throw new WorkloadUnavailable("enough requests to the workload cluster are under way", BUSY_MS);
    state.inFlight++;
    const ending = new AbortController();
    const cancel = this.#clock.after(TIMEOUT_MS, () =>
      ending.abort(new Error("the workload cluster did not answer in time")),
    );
    try {
      return await call(ending.signal);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      state.restUntil = this.#clock.monotonic() + REST_MS;
      const text = error instanceof Error ? error.message : String(error);
      throw new WorkloadUnavailable(text, REST_MS, { cause: error });
    } finally {
      cancel();
      state.inFlight--;
      if (state.inFlight === 0 && state.restUntil <= this.#clock.monotonic()) this.#states.delete(key);
    }
  }
}
