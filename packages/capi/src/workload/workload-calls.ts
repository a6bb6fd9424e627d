import { ApiError, type Clock } from "@capstan/apimachinery";
import type { ClusterKey } from "./types.ts";

const TIMEOUT_MS = 10_000;
const MAX_IN_FLIGHT = 20;
const BUSY_MS = 100;
const REST_MS = 10_000;

/** Thrown if a workload cluster does not respond or has too many calls in flight; retry later. */
export class WorkloadUnavailable extends Error {
  readonly retryMs: number;
  /** What the last call failed with; undefined if too many calls are in flight. */
  readonly failure: string | undefined;

  constructor(message: string, retryMs: number, failure?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WorkloadUnavailable";
    this.retryMs = retryMs;
    this.failure = failure;
  }
}

/** Limits other than the usual ones. */
export interface WorkloadCallLimits {
  /** Calls to one cluster at a time: 20. At most half of a controller's workers, so that a cluster that hangs never holds them all. */
  maxInFlight?: number;
  /** How long to wait when there are as many: 100 ms. */
  busyMs?: number;
}

interface State {
  inFlight: number;
  restUntil: number;
  failure: string;
}

/**
 * Limits calls to each workload cluster: ten seconds per call, some at a time, and a pause after a cluster did not respond, so that its
 * Machines never block all workers of a controller.
 */
export class WorkloadCalls {
  readonly #clock: Clock;
  readonly #limits: WorkloadCallLimits;
  readonly #states = new Map<string, State>();

  constructor(clock: Clock, limits: WorkloadCallLimits = {}) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Runs a call; responses of the server, including errors, pass through, and a timeout becomes WorkloadUnavailable. */
  async run<T>(cluster: ClusterKey, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const key = `${cluster.namespace}/${cluster.name}`;
    const state = this.#states.get(key) ?? { inFlight: 0, restUntil: 0, failure: "" };
    this.#states.set(key, state);
    const rest = state.restUntil - this.#clock.monotonic();
    if (rest > 0)
      throw new WorkloadUnavailable("the workload cluster did not respond a moment ago", rest, state.failure);
    const { maxInFlight = MAX_IN_FLIGHT, busyMs = BUSY_MS } = this.#limits;
    if (state.inFlight >= maxInFlight)
      throw new WorkloadUnavailable("too many requests to the workload cluster are in flight", busyMs);
    state.inFlight++;
    const ending = new AbortController();
    const cancel = this.#clock.after(TIMEOUT_MS, () =>
      ending.abort(new Error("the workload cluster did not respond in time")),
    );
    try {
      return await call(ending.signal);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      state.restUntil = this.#clock.monotonic() + REST_MS;
      state.failure = error instanceof Error ? error.message : String(error);
      throw new WorkloadUnavailable(state.failure, REST_MS, state.failure, { cause: error });
    } finally {
      cancel();
      state.inFlight--;
      if (state.inFlight === 0 && state.restUntil <= this.#clock.monotonic()) this.#states.delete(key);
    }
  }
}
