import { createHash } from "node:crypto";
import type { MediaContent } from "./content.ts";
import type { Download } from "./image-check.ts";

const IDLE_MS = 60_000;
const MAX_REDIRECTS = 5;

/** Downloads over HTTP and HTTPS; an answer that stops for a minute has failed. */
export function httpDownload(): Download {
  return async (url, signal) => (await get(url, {}, signal)).body;
}

/** A file at an address, read in parts: servers that do not give parts are read from the beginning. */
export async function httpContent(url: string, signal: AbortSignal): Promise<MediaContent> {
  const { headers, status, body } = await get(url, { range: "bytes=0-0" }, signal);
  for await (const _ of body) break;
  const total = status === 206 ? /\/(\d+)$/.exec(String(headers["content-range"]))?.[1] : headers["content-length"];
  const size = Number(total);
  if (!Number.isInteger(size) || size <= 0)
    throw new Error(`GET ${url}: the server does not tell how large the image is`);
  const id = createHash("sha256")
    .update(JSON.stringify([url, size, headers["etag"], headers["last-modified"]]))
    .digest("hex");
  return {
    size,
    id,
    async *read(from, to) {
      const part = await get(url, { range: `bytes=${from}-${to - 1}` }, undefined);
      let at = part.status === 206 ? from : 0;
      for await (const chunk of part.body) {
        const wanted = chunk.subarray(Math.max(0, from - at), Math.max(0, to - at));
        at += chunk.length;
        if (wanted.length > 0) yield wanted;
        if (at >= to) break;
      }
    },
  };
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

async function get(url: string, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<Got> {
  const { Agent, interceptors } = await import("undici");
  const agent = new Agent({ headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS, connect: { timeout: 10_000 } });
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTS }));
  const { origin, pathname, search } = new URL(url);
  try {
    const options = { origin, path: `${pathname}${search}`, method: "GET" as const, headers };
    const response = await dispatcher.request(signal === undefined ? options : { ...options, signal });
    if (response.statusCode !== 200 && response.statusCode !== 206)
      throw new Error(`GET ${url}: the server answered ${response.statusCode}`);
    return {
      status: response.statusCode,
      headers: response.headers,
      body: closing(response.body, () => agent.destroy()),
    };
  } catch (error) {
    await agent.destroy();
    throw error;
  }
}

async function* closing(body: AsyncIterable<Uint8Array>, close: () => Promise<void>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } finally {
    await close();
  }
}
