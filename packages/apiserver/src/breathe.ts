/** Lets other requests go on: long work (large documents, large bodies) is cut into pieces of some milliseconds with this between them. */
export function breathe(): Promise<void> {
  // oxlint-disable-next-line no-restricted-globals -- a turn of the event loop, not a time: nothing observable depends on it
  return new Promise((resolve) => setImmediate(resolve));
}
