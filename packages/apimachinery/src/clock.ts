/** Time is passed in everywhere (docs/architecture.md, rule 6), so that simulation and tests decide when things happen. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never jump, for measuring durations. */
  monotonic(): number;
  /** Calls `fire` once after `ms`; the returned function cancels it. Timers never keep a process alive by themselves. */
  after(ms: number, fire: () => void): () => void;
}

/** The one place in library code that touches real time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, Math.min(ms, 0x7fffffff));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or rejects with the signal's reason. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** RFC 3339 with whole seconds, as metav1.Time is written. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().replace(".000Z", "Z");
    lastSecond = second;
  }
  return lastText;
}

/** Almost all calls ask for the current second. */
let lastSecond = Number.NaN;
let lastText = "";

/** RFC 3339 with six decimals, as metav1.MicroTime is written. */
export function formatMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
