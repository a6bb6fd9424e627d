import { createHash } from "node:crypto";
import type { Clock } from "@capstan/apimachinery";
import { atMost, type DialGate } from "@capstan/apimachinery/foreign";
import type { MediaContent } from "./content.ts";

const IDLE_MS = 60_000;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Larger than any image that a machine boots from. */
export const MAX_BYTES = 64 * 1024 ** 3;
const TOTAL_MS = 6 * 3600_000;

/** Streams the body of a URL; throws when it is not available. */
export type Download = (url: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

/** How to download images. */
export interface DownloadOptions {
  /** Which addresses are dialled; also those that a server redirects to. */
  readonly gate: DialGate;
  readonly clock: Clock;
}

/** Downloads over HTTP and HTTPS; fails when a response stalls for a minute or exceeds its limits. */
export function httpDownload(options: DownloadOptions): Download {
  return async (url, signal) => {
    const limit = limited(options, url, signal);
    try {
      const { body } = await get(url, {}, limit.signal, options);
      return closing(atMost(body, MAX_BYTES, `GET ${url}`), () => Promise.resolve(limit.end()));
    } catch (error) {
      limit.end();
      throw error;
    }
  };
}

/** Reads a file at a URL in ranges; servers without range support are read from the beginning. */
export async function httpContent(
  url: string,
  signal: AbortSignal | undefined,
  options: DownloadOptions,
): Promise<MediaContent> {
  const { headers, status, body } = await get(url, { range: "bytes=0-0" }, signal, options);
  for await (const _ of body) break;
  const total = status === 206 ? /\/(\d+)$/.exec(String(headers["content-range"]))?.[1] : headers["content-length"];
  const size = Number(total);
  if (!Number.isInteger(size) || size <= 0)
    throw new Error(`GET ${url}: the server does not report the size of the image`);
  if (size > MAX_BYTES) throw new Error(`GET ${url}: the image has more than ${MAX_BYTES} bytes`);
  const id = createHash("sha256")
    .update(JSON.stringify([url, size, headers["etag"], headers["last-modified"]]))
    .digest("hex");
  return {
    size,
    id,
    async *read(from, to, stop) {
      const limit = limited(options, url, stop);
      try {
        const part = await get(url, { range: `bytes=${from}-${to - 1}` }, limit.signal, options);
        let at = part.status === 206 ? from : 0;
        for await (const chunk of part.body) {
          const wanted = chunk.subarray(Math.max(0, from - at), Math.max(0, to - at));
          at += chunk.length;
          if (wanted.length > 0) yield wanted;
          if (at >= to) break;
        }
      } finally {
        limit.end();
      }
    },
  };
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** A download also has a total time limit: a server that sends a byte a minute never stalls. */
function limited(
  { clock }: DownloadOptions,
  url: string,
  signal: AbortSignal | undefined,
): { signal: AbortSignal; end(): void } {
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort, { once: true });
  const cancel = clock.after(TOTAL_MS, () =>
    stop.abort(new Error(`GET ${url}: the response was not complete within ${TOTAL_MS / 3600_000} h`)),
  );
  return {
    signal: stop.signal,
    end: () => {
      cancel();
      signal?.removeEventListener("abort", abort);
    },
  };
}

async function get(
  first: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
  { gate }: DownloadOptions,
): Promise<Got> {
  const { Agent } = await import("undici");
  let url = new URL(first);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw new Error(`GET ${first}: it redirects to another scheme, and only http and https are followed`);
    const connect = { timeout: 10_000, ...gate.guardUrl(url) };
    const agent = new Agent({ headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS, connect });
    try {
      const { origin, pathname, search } = url;
      const options = { origin, path: `${pathname}${search}`, method: "GET" as const, headers };
      const {
        statusCode: status,
        headers: found,
        body,
      } = await agent.request(signal === undefined ? options : { ...options, signal });
      const next = REDIRECTS.has(status) ? found["location"] : undefined;
      if (typeof next === "string") {
        await agent.destroy();
        if (!URL.canParse(next, url.href)) throw new Error(`GET ${first}: it redirects to an invalid URL`);
        url = new URL(next, url);
        continue;
      }
      // Where a server redirects to is not shown: such addresses carry tokens, and whoever chose the first one would read them.
      if (status !== 200 && status !== 206) throw new Error(`GET ${first}: the server answered ${status}`);
      return { status, headers: found, body: closing(body, () => agent.destroy()) };
    } catch (error) {
      await agent.destroy();
      throw error;
    }
  }
  throw new Error(`GET ${first}: it redirects more than ${MAX_REDIRECTS} times`);
}

async function* closing(body: AsyncIterable<Uint8Array>, close: () => Promise<void>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } finally {
    await close();
  }
}
