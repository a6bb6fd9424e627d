import type { Steps } from "@capstan/apimachinery";

/** Working on a body or an object of more bytes takes so long that others should be let in between. */
export const LARGE_BYTES = 32 * 1024;

/** Lets other requests go on: long work (large documents, large bodies) is cut into pieces of some milliseconds with this between them. */
export function breathe(): Promise<void> {
  // oxlint-disable-next-line no-restricted-globals -- a turn of the event loop, not a time: nothing observable depends on it
  return new Promise((resolve) => setImmediate(resolve));
}

/** Runs work to its end with a pause at each of its steps. */
export async function inSteps<Result>(steps: Steps<Result>, pause: () => Promise<void>): Promise<Result> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    await pause();
  }
}

/** Makes something of many items, some at once, with a pause in between. */
export async function inPieces<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  make: (piece: readonly Item[]) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let i = 0; i < items.length; i += atOnce) {
    if (i > 0) await breathe();
    results.push(make(items.slice(i, i + atOnce)));
  }
  return results;
}
