import { closeSync, openSync, readSync } from "node:fs";

/** How long a stretch of this thread's work was at most, in milliseconds of processor time: a busy machine does not count. */
export interface StallMeter {
  /** Begins to measure; costs a processor until stop(). */
  start(): void;
  stop(): number;
}

/** Reads the processor time of the main thread at every turn of the event loop. */
export function stallMeter(): StallMeter {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const buffer = Buffer.alloc(64);
  const usedNs = (): number =>
    Number(buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0)).split(" ")[0]);
  let running = false;
  let last = 0;
  let longest = 0;
  const turn = (): void => {
    if (!running) return;
    const now = usedNs();
    longest = Math.max(longest, now - last);
    last = now;
    setImmediate(turn);
  };
  process.once("exit", () => closeSync(file));
  return {
    start() {
      longest = 0;
      last = usedNs();
      if (running) return;
      running = true;
      setImmediate(turn);
    },
    stop() {
      if (running) longest = Math.max(longest, usedNs() - last);
      running = false;
      return longest / 1e6;
    },
  };
}
