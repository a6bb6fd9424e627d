import { type Random, randomFloat } from "@capstan/apimachinery";

const FIRST_MS = 10_000;
const LAST_MS = 30 * 60_000;

/** Returns the back-off after the nth consecutive failure: exponential from 10 s to half an hour, plus up to 50% jitter. */
export function backOffMs(failures: number, random: Random): number {
  const base = Math.min(FIRST_MS * 2 ** Math.min(Math.max(failures, 1) - 1, 20), LAST_MS);
  return Math.round(base * (1 + randomFloat(random) / 2));
}
