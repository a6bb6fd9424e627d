import { closeSync, openSync, readSync } from "node:fs";

/** How long a stretch of this thread's work was at most, in milliseconds. */
export interface Stall {
  /** Of processor time: a busy machine does not count. */
  readonly cpuMs: number;
  /** By the clock: what others had to wait. */
  readonly clockMs: number;
}

/** Measures the event loop it runs in. */
export interface StallMeter {
  /** Begins to measure; costs a processor until stop(). */
  start(): void;
  stop(): Stall;
}

/** Reads the processor time of the main thread, and the clock, at every turn of the event loop. */
export function stallMeter(): StallMeter {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const buffer = Buffer.alloc(64);
  const usedNs = (): number =>
    Number(buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0)).split(" ")[0]);
  let running = false;
  let last = { cpu: 0, clock: 0 };
  let longest = { cpu: 0, clock: 0 };
  const read = (): typeof last => ({ cpu: usedNs() / 1e6, clock: performance.now() });
  const note = (): void => {
    const now = read();
    longest = {
      cpu: Math.max(longest.cpu, now.cpu - last.cpu),
      clock: Math.max(longest.clock, now.clock - last.clock),
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
      longest = { cpu: 0, clock: 0 };
      last = read();
      if (running) return;
      running = true;
      setImmediate(turn);
    },
    stop() {
      if (running) note();
      running = false;
      return { cpuMs: longest.cpu, clockMs: longest.clock };
    },
  };
}
