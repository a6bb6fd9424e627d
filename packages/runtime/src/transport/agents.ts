import type { Agent, Dispatcher, ProxyAgent, request } from "undici";
import type { ClientConfig, Credentials } from "./client-config.ts";

/** undici costs a fifth of a second to load: only those who speak HTTP pay. */
export async function loadUndici(): Promise<Undici> {
  return await import("undici");
}

interface Undici {
  Agent: typeof Agent;
  ProxyAgent: typeof ProxyAgent;
  request: typeof request;
}

/** The connections to one server with one client certificate. */
export interface Agents {
  /** A bounded pool for requests. */
  readonly requests: Dispatcher;
  /** One connection per watch. */
  readonly watches: Dispatcher;
}

/** Opens nothing yet: connections are made when needed. */
export async function createAgents(config: ClientConfig, credentials: Credentials): Promise<Agents> {
  const undici = await loadUndici();
  const tls = {
    ...(config.tls?.caPem === undefined ? {} : { ca: config.tls.caPem }),
    ...(config.tls?.serverName === undefined ? {} : { servername: config.tls.serverName }),
    ...(config.tls?.insecure === true ? { rejectUnauthorized: false } : {}),
    ...(credentials.certPem === undefined ? {} : { cert: credentials.certPem }),
    ...(credentials.keyPem === undefined ? {} : { key: credentials.keyPem }),
  };
  const timeout = config.requestTimeoutMs ?? 75_000;
  const make = (connections: number | undefined, bodyTimeout: number): Dispatcher => {
    const options = {
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: 30_000,
      headersTimeout: timeout,
      bodyTimeout,
      ...(connections === undefined ? {} : { connections }),
    };
    const connect = { timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 15_000 };
    if (config.proxyUrl !== undefined) {
      return new undici.ProxyAgent({ ...options, uri: config.proxyUrl, requestTls: { ...connect, ...tls } });
    }
    return new undici.Agent({ ...options, connect: { ...connect, ...tls } });
  };
  return {
    requests: make(config.connections ?? 32, timeout),
    watches: make(undefined, 0),
  };
}
