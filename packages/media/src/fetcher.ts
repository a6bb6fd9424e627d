import { AddressRefused, type DialGate } from "@capstan/apimachinery/foreign";
import type { Dispatcher } from "undici";
import { DownloadError } from "./download-error.ts";

const MAX_REDIRECTS = 10;
/** An answer that stops for this long has failed. */
const IDLE_MS = 60_000;

/** How to reach servers. */
export interface FetcherOptions {
  /** The proxy for an address; undefined when it is asked directly. */
  proxyFor(url: string): string | undefined;
  /** Which addresses may be dialed, for URLs that come from objects. A proxy would dial for us without it, so that none is used then. */
  gate?: DialGate | undefined;
  signal?: AbortSignal;
}

/** Sends HTTP requests, through proxies where configured; follows redirects, but never from HTTPS to HTTP. */
export class Fetcher {
  readonly #options: FetcherOptions;
  /** One per proxy, or per server behind the gate; "" connects directly. */
  readonly #dispatchers = new Map<string, Promise<Dispatcher>>();

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /** Returns the response of the last server, whatever its status; the caller discards an unwanted body. */
  async get(address: string, headers: Record<string, string> = {}): Promise<Dispatcher.ResponseData> {
    let url = parse(address);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const response = await this.#ask(url, { ...headers, ...authorizationOf(url) });
      const { location } = response.headers;
      if (response.statusCode < 300 || response.statusCode > 399 || typeof location !== "string") return response;
      giveUp(response);
      const next = new URL(location, url);
      if (url.protocol === "https:" && next.protocol !== "https:")
        throw new DownloadError(
          "redirect",
          `${withoutCredentials(url)} leads to ${withoutCredentials(next)}, where anyone on the network path could modify it`,
        );
      url = next;
    }
    throw new DownloadError("redirect", `${withoutCredentials(address)} redirects too many times`);
  }

  async #ask(url: URL, headers: Record<string, string>): Promise<Dispatcher.ResponseData> {
    const { signal, gate } = this.#options;
    const proxy = gate === undefined ? this.#options.proxyFor(url.href) : undefined;
    const { origin, pathname, search } = url;
    try {
      const dispatcher = await (gate === undefined ? this.#dispatcher(proxy ?? "") : this.#guarded(gate, url));
      return await dispatcher.request({
        origin,
        path: `${pathname}${search}`,
        method: "GET",
        headers,
        signal,
      });
    } catch (error) {
      if (error instanceof AddressRefused) throw new DownloadError("address", error.message);
      throw unreachable(
        `${withoutCredentials(url)}${proxy === undefined ? "" : ` through the proxy ${new URL(proxy).host}`}`,
        error,
      );
    }
  }

  /** Lets go of all connections. */
  async close(): Promise<void> {
    for (const dispatcher of this.#dispatchers.values()) await dispatcher.then((each) => each.destroy());
    this.#dispatchers.clear();
  }

  async #guarded(gate: DialGate, url: URL): Promise<Dispatcher> {
    // Before anything is kept: what is refused now may be allowed later.
    const connect = gate.guardUrl(url);
    let found = this.#dispatchers.get(url.origin);
    if (found === undefined) this.#dispatchers.set(url.origin, (found = makeGuarded(connect)));
    return await found;
  }

  #dispatcher(proxy: string): Promise<Dispatcher> {
    let found = this.#dispatchers.get(proxy);
    if (found === undefined) this.#dispatchers.set(proxy, (found = makeDispatcher(proxy)));
    return found;
  }
}

async function makeDispatcher(proxy: string): Promise<Dispatcher> {
  const { Agent, ProxyAgent } = await import("undici");
  const options = { headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS, connect: { timeout: 30_000 } };
  // Plain HTTP requests go to the proxy itself: most proxies refuse CONNECT to port 80.
  return proxy === "" ? new Agent(options) : new ProxyAgent({ ...options, uri: proxy, proxyTunnel: false });
}

async function makeGuarded(connect: object): Promise<Dispatcher> {
  const { Agent } = await import("undici");
  return new Agent({ headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS, connect: { timeout: 30_000, ...connect } });
}

function parse(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new DownloadError("address", `${address} is not a valid URL`);
}

/** User and password of a URL as an Authorization header. */
function authorizationOf(url: URL): Record<string, string> {
  if (url.username === "") return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** Discards the rest of a response. */
export function giveUp({ body }: Dispatcher.ResponseData): void {
  body.on("error", () => undefined).destroy();
}

/** Returns a URL without user and password, fit for display. */
export function withoutCredentials(address: string | URL): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}

function unreachable(what: string, error: unknown): DownloadError {
  const why =
    error instanceof Error ? error.message || ("code" in error ? String(error.code) : error.name) : String(error);
  return new DownloadError("unreachable", `cannot reach ${what}: ${why}`);
}
