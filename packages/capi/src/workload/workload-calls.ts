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

/** Limits of one controller other than the usual ones. */
export interface WorkloadCallLimits {
  /** Calls to one cluster at a time: 20. At most half of a controller's workers, so that a cluster that hangs never holds them all. */
  maxInFlight?: number;
  /** How long to wait when there are as many: 100 ms. */
  busyMs?: number;
}

interface Rest {
  readonly until: number;
  readonly failure: string;
}

/**
 * Limits calls to each workload cluster: ten seconds per call, some at a time, and a pause after a cluster did not respond, so that its
 * Machines never block all workers of a controller. A manager has one, from which each controller derives its own with `limited`.
 */
export class WorkloadCalls {
  readonly #clock: Clock;
  readonly #limits: WorkloadCallLimits;
  readonly #rests = new Map<string, Rest>();
  readonly #inFlight = new Map<string, number>();

  constructor(clock: Clock, limits: WorkloadCallLimits = {}) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Returns the limiter of one controller. Calls in flight are counted apart, since the limit follows from the controller's workers; so are
   * pauses, since controllers reach a cluster in different ways: repairs through its Machines must not wait for calls to a dead endpoint.
   */
  limited(limits: WorkloadCallLimits = {}): WorkloadCalls {
    return new WorkloadCalls(this.#clock, limits);
  }

  /** Runs a call; responses of the server, including errors, pass through, and a timeout becomes WorkloadUnavailable. */
  async run<T>(cluster: ClusterKey, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const key = `${cluster.namespace}/${cluster.name}`;
    const rest = this.#rests.get(key);
    if (rest !== undefined) {
      const leftMs = rest.until - this.#clock.monotonic();
      if (leftMs > 0)
        throw new WorkloadUnavailable("the workload cluster did not respond a moment ago", leftMs, rest.failure);
      this.#rests.delete(key);
    }
    const { maxInFlight = MAX_IN_FLIGHT, busyMs = BUSY_MS } = this.#limits;
    const inFlight = this.#inFlight.get(key) ?? 0;
    if (inFlight >= maxInFlight)
      throw new WorkloadUnavailable("too many requests to the workload cluster are in flight", busyMs);
    this.#inFlight.set(key, inFlight + 1);
    const ending = new AbortController();
    const cancel = this.#clock.after(TIMEOUT_MS, () =>
      ending.abort(new Error("the workload cluster did not respond in time")),
    );
    try {
      return await call(ending.signal);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      const failure = error instanceof Error ? error.message : String(error);
      this.#rests.set(key, { until: this.#clock.monotonic() + REST_MS, failure });
      throw new WorkloadUnavailable(failure, REST_MS, failure, { cause: error });
    } finally {
      cancel();
      const left = (this.#inFlight.get(key) ?? 1) - 1;
      if (left === 0) this.#inFlight.delete(key);
      else this.#inFlight.set(key, left);
    }
  }
}
