import type { Clock } from "@capstan/apimachinery";

/** One way to something; it stops when the signal aborts. */
export interface Way<T> {
  readonly name: string;
  run(signal: AbortSignal): Promise<T>;
}

/** How ways are tried. */
export interface WayOptions<T> {
  readonly clock: Clock;
  /** How long a way may be silent before the next one is tried as well. */
  readonly headStartMs: number;
  /** How long each way has. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Closes what a way yields after another one was faster. */
  discard(value: T): void;
}

/**
 * The first answer of several ways, which are tried in their order: the next one starts when the one before has failed or is silent for a
 * moment. Rejects with what each way answered.
 */
export function firstAnswer<T>(ways: readonly Way<T>[], options: WayOptions<T>): Promise<{ way: string; value: T }> {
  const { clock, headStartMs, limitMs, signal } = options;
  return new Promise((resolve, reject) => {
    const attempts: AbortController[] = [];
    const failures: string[] = [];
    const cancels: (() => void)[] = [];
    let settled = false;
    const settle = (end: () => void, winner?: AbortController): void => {
      settled = true;
      for (const cancel of cancels) cancel();
      signal?.removeEventListener("abort", aborted);
      end();
      for (const attempt of attempts) if (attempt !== winner) attempt.abort(new Error("another way was faster"));
    };
    const aborted = (): void => settle(() => reject(signal?.reason));
    const start = (): void => {
      const index = attempts.length;
      const way = ways[index];
      if (settled || way === undefined) return;
      const attempt = new AbortController();
      attempts.push(attempt);
      const startNext = (): void => {
        if (attempts.length === index + 1) start();
      };
      const failed = (error: unknown): void => {
        if (settled || failures[index] !== undefined) return;
        failures[index] = `${way.name}: ${error instanceof Error ? error.message : String(error)}`;
        attempt.abort(error);
        startNext();
        if (failures.filter((each) => each !== undefined).length === ways.length)
          settle(() => reject(new Error(failures.join("; "))));
      };
      cancels.push(clock.after(limitMs, () => failed(new Error(`no answer within ${limitMs / 1000} s`))));
      cancels.push(clock.after(headStartMs, startNext));
      way.run(attempt.signal).then((value) => {
        if (settled || failures[index] !== undefined) options.discard(value);
        else settle(() => resolve({ way: way.name, value }), attempt);
      }, failed);
    };
    if (signal?.aborted === true) return aborted();
    signal?.addEventListener("abort", aborted, { once: true });
    if (ways.length === 0) settle(() => reject(new Error("there is no way")));
    start();
  });
}
