import type { Duplex } from "node:stream";
import type { Lookup } from "@capstan/apimachinery/foreign";
import type { Agent, buildConnector, Dispatcher, ProxyAgent, request, upgrade } from "undici";
import type { ClientConfig, Credentials } from "./client-config.ts";
import { socksConnector } from "./socks5.ts";

/** undici costs a fifth of a second to load: only those who speak HTTP pay. */
async function loadUndici(): Promise<Undici> {
  return await import("undici");
}

interface Undici {
  Agent: typeof Agent;
  ProxyAgent: typeof ProxyAgent;
  request: typeof request;
  upgrade: typeof upgrade;
}

/** An HTTP request as agents send it. */
export interface Outgoing {
  readonly method: string;
  readonly headers: Record<string, string | string[]>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** The head of an HTTP response with its unread body; stopping early closes the connection. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: AsyncIterable<unknown> & { dump(): Promise<unknown> };
}

/** The connections to one server with one client certificate: a bounded pool for requests, and one connection per watch. */
export interface Agents {
  send(url: string, watch: boolean, outgoing: Outgoing): Promise<Answer>;
  /** Makes a connection a WebSocket. */
  upgrade(url: string, outgoing: Outgoing): Promise<{ headers: Answer["headers"]; socket: Duplex }>;
  /** Requests finish, watches are closed. */
  retire(): Promise<void>;
  /** Closes all connections at once. */
  destroy(): Promise<void>;
}

/** Creates the connections of a transport. */
export type CreateAgents = (config: ClientConfig, credentials: Credentials) => Promise<Agents>;

/** Returns the TLS options for connections to a server. */
export function tlsOptions(config: ClientConfig, credentials: Credentials): TlsOptions {
  return {
    // As in Go, the bundle may hold the serving certificate itself instead of the authority that signed it.
    ...(config.tls?.caPem === undefined ? {} : { ca: config.tls.caPem, allowPartialTrustChain: true }),
    ...(config.tls?.serverName === undefined ? {} : { servername: config.tls.serverName }),
    ...(config.tls?.insecure === true ? { rejectUnauthorized: false } : {}),
    cert: credentials.certPem,
    key: credentials.keyPem,
  };
}

interface TlsOptions {
  ca?: string;
  allowPartialTrustChain?: boolean;
  servername?: string;
  rejectUnauthorized?: boolean;
  cert?: string;
  key?: string;
}

/** Returns the DNS lookup that checks dialled addresses: those of the proxy if there is one, else those of the server. */
export function guardOf({ gate, proxyUrl, server }: ClientConfig): { lookup?: Lookup } {
  return gate === undefined ? {} : gate.guardUrl(proxyUrl ?? server);
}

/** Default time without any data after which a request fails. */
export const REQUEST_TIMEOUT_MS = 75_000;
/** Default number of connections for requests. */
export const MAX_CONNECTIONS = 32;

/** Creates the agents of a server, which connect on demand. */
export async function createAgents(config: ClientConfig, credentials: Credentials): Promise<Agents> {
  const undici = await loadUndici();
  const tls = tlsOptions(config, credentials);
  const timeout = config.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  // What opens connections itself checks the addresses.
  const guard = config.connect === undefined ? guardOf(config) : {};
  const make = (connections: number | undefined, bodyTimeout: number): Dispatcher => {
    const options = {
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: 30_000,
      headersTimeout: timeout,
      bodyTimeout,
      connections,
    };
    const connect = { timeout: Math.min(10_000, timeout), keepAlive: true, keepAliveInitialDelay: 15_000 };
    if (config.connect !== undefined) {
      const open = config.connect;
      const through: buildConnector.connector = (_target, callback) => {
        open(tls).then(
          (socket) => callback(null, socket),
          (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
        );
      };
      return new undici.Agent({ ...options, connect: through });
    }
    if (config.proxyUrl?.startsWith("socks5") === true) {
      const socks = socksConnector(config.proxyUrl, { tls, timeoutMs: connect.timeout, ...guard });
      return new undici.Agent({ ...options, connect: socks });
    }
    if (config.proxyUrl !== undefined) {
      const requestTls = { ...connect, ...tls };
      return new undici.ProxyAgent({ ...options, uri: config.proxyUrl, requestTls, proxyTls: { ...guard } });
    }
    return new undici.Agent({ ...options, connect: { ...connect, ...tls, ...guard } });
  };
  const requests = make(config.connections ?? MAX_CONNECTIONS, timeout);
  const watches = make(undefined, 0);
  return {
    send: (url, watch, outgoing) =>
      undici.request(url, {
        ...outgoing,
        method: outgoing.method as Dispatcher.HttpMethod,
        dispatcher: watch ? watches : requests,
      }),
    upgrade: (url, outgoing) =>
      undici.upgrade(url, {
        ...outgoing,
        method: outgoing.method as Dispatcher.HttpMethod,
        dispatcher: watches,
        protocol: "websocket",
      }),
    retire: async () => void (await Promise.all([requests.close(), watches.destroy()])),
    destroy: async () => void (await Promise.all([requests.destroy(), watches.destroy()])),
  };
}
