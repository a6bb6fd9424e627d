import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type Clock, limitConnections, TLS_TIME_LIMITS } from "@capstan/apimachinery";

/** Address of an endpoint; without a host it listens on every address, and port 0 selects a free port. */
export interface EndpointAddress {
  readonly host?: string | undefined;
  readonly port: number;
}

/** Certificate and key of a TLS endpoint, in PEM. */
export interface EndpointTls {
  readonly certPem: string;
  readonly keyPem: string;
}

/** A listening HTTP endpoint. */
export interface Endpoint {
  readonly port: number;
  /** Serves new connections with another certificate. */
  renew(tls: EndpointTls): void;
  close(): Promise<void>;
}

/** A complete HTTP response. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Probes and scrapers are few; they keep a connection for longer than they wait between two requests. */
const CONNECTIONS = { maxConnections: 512, maxUnauthenticatedPerAddress: 64, quietMs: 70_000, answerMs: 60_000 };

/** The 404 response for paths that an endpoint does not serve. */
export const NOT_FOUND: Answer = { status: 404, type: "text/plain", body: "not found\n" };

/** Serves GET requests with small responses; slow clients and endless requests are cut off. */
export async function serveEndpoint(
  address: EndpointAddress,
  answer: (request: IncomingMessage) => Promise<Answer>,
  clock: Clock,
  tls?: EndpointTls,
): Promise<Endpoint> {
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void answer(request)
      .then((made) => send(request, response, made))
      .catch(() => response.destroy());
  };
  const limits = {
    requestTimeout: 10_000,
    headersTimeout: 10_000,
    connectionsCheckingInterval: 5_000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 16_384,
  };
  const secure =
    tls === undefined ? undefined : createSecureServer({ ...limits, ...TLS_TIME_LIMITS, ...pair(tls) }, listener);
  const server: Server = secure ?? createServer(limits, listener);
  limitConnections(server, CONNECTIONS, clock);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: address.port, host: address.host }, resolve);
  });
  // The endpoint itself never keeps the process alive.
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    renew: (next) => secure?.setSecureContext(pair(next)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function pair({ certPem, keyPem }: EndpointTls): { cert: string; key: string } {
  return { cert: certPem, key: keyPem };
}

/** Sends an answer to a GET or HEAD; other methods are refused. */
function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  const headers = { "content-type": answer.type, "cache-control": "no-cache, no-store", ...answer.headers };
  response.writeHead(answer.status, headers).end(request.method === "HEAD" ? undefined : answer.body);
}
