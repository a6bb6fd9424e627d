import type { Clock } from "../clock.ts";

/** An untrusted document that exceeds the limits of size, depth or time. */
export class ForeignDocumentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ForeignDocumentError";
  }
}

/** Lets other work run: long work is split into pieces of some milliseconds with this in between. */
export function yieldToEventLoop(): Promise<void> {
  // oxlint-disable-next-line no-restricted-globals -- a turn of the event loop, not a time: nothing observable depends on it
  return new Promise((resolve) => setImmediate(resolve));
}

/** Passes a body on and fails as soon as it is longer than `maxBytes`; `what` names it in the error. */
export async function* atMost(
  body: AsyncIterable<unknown>,
  maxBytes: number,
  what: string,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const chunk of body) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Uint8Array);
    read += bytes.length;
    if (read > maxBytes) throw new ForeignDocumentError(`${what}: the answer has more than ${maxBytes} bytes`);
    yield bytes;
  }
}

/** The text of a body of at most `maxBytes`. Stopping early closes the stream, so that the rest is never received. */
export async function readText(body: AsyncIterable<unknown>, maxBytes: number, what: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of atMost(body, maxBytes, what)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Does something within a time, from its beginning to its end: silence alone does not bound a body that comes one byte a minute. The work is
 * aborted by its signal.
 */
export async function withinTime<T>(
  limit: {
    readonly clock: Clock;
    readonly ms: number;
    readonly what: string;
    readonly signal?: AbortSignal | undefined;
  },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, ms, what, signal } = limit;
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort, { once: true });
  const cancel = clock.after(ms, () =>
    stop.abort(new ForeignDocumentError(`${what}: the response was not complete within ${Math.round(ms / 1000)} s`)),
  );
  try {
    return await work(stop.signal);
  } catch (error) {
    // Clients report an aborted signal with messages of their own.
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    cancel();
    signal?.removeEventListener("abort", abort);
  }
}
