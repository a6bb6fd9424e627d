import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

/** What the work below takes on the machine on which the limits were set: 2 virtual processors of a server of 2024. */
const REFERENCE_MS = 20;
const ROUNDS = 15;

const usedMs = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;

/** What an API server does most: objects to text and back. */
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

/** Whether others keep all processors busy: then threads that help the main one (garbage collection) come late, and the clock says little. */
export function isBusy(): boolean {
  return (loadavg()[0] ?? 0) > 2 * availableParallelism();
}
