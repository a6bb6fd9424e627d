import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

/** How long the work below takes on the machine where the limits were set: 2 virtual processors of a server of 2024. */
const REFERENCE_MS = 20;
const ROUNDS = 15;

const usedMs = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;

/** The most common work of an API server: encoding and decoding objects. */
function work(): number {
  const items = Array.from({ length: 2_000 }, (_, i) => ({
    metadata: { name: `o${i}`, labels: { a: `v${i}`, b: "x" } },
    spec: { replicas: i, text: "abcdefghij".repeat(10) },
  }));
  let length = 0;
  for (let i = 0; i < 4; i++) length += (JSON.parse(JSON.stringify(items)) as unknown[]).length;
  return length;
}

/** How many times slower than the reference this machine is, in processor time; 1 for a faster one. */
export function slowness(): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const begun = usedMs();
    work();
    best = Math.min(best, usedMs() - begun);
  }
  return Math.max(1, best / REFERENCE_MS);
}

/** Whether others keep all processors busy: then helper threads (garbage collection) run late, and the clock means little. */
export function isBusy(): boolean {
  return (loadavg()[0] ?? 0) > 2 * availableParallelism();
}
