import type { Clock } from "@capstan/apimachinery";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** Reads JSON documents over HTTPS, each within ten seconds and a megabyte. Plain http is refused: keys must not be read over it. */
export function httpsJson(clock: Clock, caPem?: string): (url: string) => Promise<unknown> {
  return async (url) => {
    const target = new URL(url);
    if (target.protocol !== "https:") throw new Error(`${url} is no https URL`);
    const { Agent } = await import("undici");
    const agent = new Agent({
      maxResponseSize: MAX_BYTES,
      connect: caPem === undefined ? {} : { ca: caPem, allowPartialTrustChain: true },
    });
    const abort = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () => abort.abort(new Error(`${url} did not answer within 10 s`)));
    try {
      const { origin, pathname, search } = target;
      const answer = await agent.request({ origin, path: `${pathname}${search}`, method: "GET", signal: abort.signal });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${url} answered with status ${answer.statusCode}`);
      return JSON.parse(text);
    } finally {
      cancel();
      await agent.destroy();
    }
  };
}
