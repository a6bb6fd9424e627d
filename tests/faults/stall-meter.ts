import { closeSync, openSync, readSync } from "node:fs";

/** The longest stretch of this thread's work, in milliseconds. */
export interface Stall {
  /** Of processor time. */
  readonly cpuMs: number;
  /** By the clock: how long other requests waited. */
  readonly clockMs: number;
  /** By the clock without the time in which the thread could have run and the machine had no processor for it. */
  readonly heldMs: number;
}

/** No stall. */
export const NO_STALL: Stall = { cpuMs: 0, clockMs: 0, heldMs: 0 };

/** Measures the event loop it runs in. */
export interface StallMeter {
  /** Starts measuring; occupies a processor until stop(). */
  start(): void;
  stop(): Stall;
}

/** Reads what the kernel counts of the main thread, and the clock, at every turn of the event loop. */
export function stallMeter(): StallMeter {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const buffer = Buffer.alloc(64);
  let running = false;
  let last = { cpu: 0, clock: 0, queued: 0 };
  let longest = NO_STALL;
  const read = (): typeof last => {
    const text = buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0));
    const [cpu = 0, queued = 0] = text.split(" ").map((ns) => Number(ns) / 1e6);
    return { cpu, queued, clock: performance.now() };
  };
  const note = (): void => {
    const now = read();
    const clock = now.clock - last.clock;
    longest = {
      cpuMs: Math.max(longest.cpuMs, now.cpu - last.cpu),
      clockMs: Math.max(longest.clockMs, clock),
      heldMs: Math.max(longest.heldMs, clock - (now.queued - last.queued)),
    };
    last = now;
  };
  const turn = (): void => {
    if (!running) return;
    note();
    setImmediate(turn);
  };
  process.once("exit", () => closeSync(file));
  return {
    start() {
      longest = NO_STALL;
      last = read();
      if (running) return;
      running = true;
      setImmediate(turn);
    },
    stop() {
      if (running) note();
      running = false;
      return longest;
    },
  };
}
