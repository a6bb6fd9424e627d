import { type Random, randomFloat } from "@capstan/apimachinery";

const FIRST_MS = 10_000;
const LAST_MS = 30 * 60_000;

/** How long to wait after the nth failure in a row: doubling, up to half an hour, and up to half as long again by chance. */
export function backOffMs(failures: number, random: Random): number {
  const base = Math.min(FIRST_MS * 2 ** Math.min(Math.max(failures, 1) - 1, 20), LAST_MS);
  return Math.round(base * (1 + randomFloat(random) / 2));
}
