import { proxyFromEnvironment } from "@capstan/runtime";
import type { Dispatcher } from "undici";
import { InstallError } from "./install-error.ts";

const MAX_REDIRECTS = 10;
/** An answer that stops for this long has failed. */
const IDLE_MS = 60_000;

export interface FetcherOptions {
  /** HTTP_PROXY, HTTPS_PROXY, NO_PROXY. */
  env: Readonly<Record<string, string | undefined>>;
  signal?: AbortSignal;
}

/** Asks servers, through the proxies that the environment names; follows redirects, but never from HTTPS to HTTP. */
export class Fetcher {
  readonly #options: FetcherOptions;
  /** One per proxy; "" goes straight. */
  readonly #dispatchers = new Map<string, Promise<Dispatcher>>();

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /** The answer of the last server, whatever its status; what is not wanted of it is given up. */
  async get(address: string, headers: Record<string, string> = {}): Promise<Dispatcher.ResponseData> {
    let url = parse(address);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const response = await this.#ask(url, { ...headers, ...authorizationOf(url) });
      const { location } = response.headers;
      if (response.statusCode < 300 || response.statusCode > 399 || typeof location !== "string") return response;
      giveUp(response);
      const next = new URL(location, url);
      if (url.protocol === "https:" && next.protocol !== "https:")
        throw new InstallError(
          `${shown(url)} leads to ${shown(next)}, where anybody on the way could change it`,
          "use another --mirror",
        );
      url = next;
    }
    throw new InstallError(`${shown(address)} leads on and on`, "use another --mirror");
  }

  async #ask(url: URL, headers: Record<string, string>): Promise<Dispatcher.ResponseData> {
    const { env, signal } = this.#options;
    const proxy = proxyFromEnvironment(url.href, env);
    const dispatcher = await this.#dispatcher(proxy ?? "");
    const { origin, pathname, search } = url;
    try {
      return await dispatcher.request({
        origin,
        path: `${pathname}${search}`,
        method: "GET",
        headers,
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw unreachable(
        `${shown(url)}${proxy === undefined ? "" : ` through the proxy ${new URL(proxy).host}`}`,
        error,
      );
    }
  }

  /** Lets go of all connections. */
  async close(): Promise<void> {
    for (const dispatcher of this.#dispatchers.values()) await dispatcher.then((each) => each.destroy());
    this.#dispatchers.clear();
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
  // What is not encrypted is asked of the proxy itself: most let nobody through to port 80.
  return proxy === "" ? new Agent(options) : new ProxyAgent({ ...options, uri: proxy, proxyTunnel: false });
}

function parse(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new InstallError(`${address} is no address`, "write mirrors like https://mirror.example.org/kubernetes");
}

/** User and password of an address as the header that they belong into. */
function authorizationOf(url: URL): Record<string, string> {
  if (url.username === "") return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** The rest of an answer is not wanted. */
export function giveUp({ body }: Dispatcher.ResponseData): void {
  body.on("error", () => undefined).destroy();
}

/** An address as it may be told: without user and password. */
export function shown(address: string | URL): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}

function unreachable(what: string, error: unknown): InstallError {
  const why =
    error instanceof Error ? error.message || ("code" in error ? String(error.code) : error.name) : String(error);
  return new InstallError(
    `cannot reach ${what}: ${why}`,
    "check the network and HTTPS_PROXY, or name a mirror with --mirror, or take local files with --from DIR",
  );
}
