import type { Download } from "./image-check.ts";

const IDLE_MS = 60_000;
const MAX_REDIRECTS = 5;

/** Downloads over HTTP and HTTPS; an answer that stops for a minute has failed. */
export function httpDownload(): Download {
  return async (url, signal) => {
    const { Agent, interceptors } = await import("undici");
    const agent = new Agent({ headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS, connect: { timeout: 10_000 } });
    const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTS }));
    const { origin, pathname, search } = new URL(url);
    const response = await dispatcher.request({ origin, path: `${pathname}${search}`, method: "GET", signal });
    if (response.statusCode !== 200) {
      await agent.destroy();
      throw new Error(`GET ${url}: the server answered ${response.statusCode}`);
    }
    return closing(response.body, () => agent.destroy());
  };
}

async function* closing(body: AsyncIterable<Uint8Array>, close: () => Promise<void>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } finally {
    await close();
  }
}
