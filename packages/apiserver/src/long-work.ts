import type { Steps } from "@capstan/apimachinery";
import { yieldToEventLoop } from "@capstan/apimachinery/foreign";

/** Bodies and objects of more bytes take so long that their work yields to other requests. */
export const LARGE_BYTES = 32 * 1024;

/** Runs work to completion with a pause after each of its steps. */
export async function inSteps<Result>(steps: Steps<Result>, pause: () => Promise<void>): Promise<Result> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    await pause();
  }
}

/** Processes many items in batches, with a pause in between. */
export async function inPieces<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  make: (piece: readonly Item[]) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let i = 0; i < items.length; i += atOnce) {
    if (i > 0) await yieldToEventLoop();
    results.push(make(items.slice(i, i + atOnce)));
  }
  return results;
}
