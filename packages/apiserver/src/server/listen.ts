import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { DEFAULT_CIPHERS } from "node:tls";
import {
  type Clock,
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  HTTP_TIME_LIMITS,
  limitConnections,
  TLS_TIME_LIMITS,
} from "@capstan/apimachinery";
import type { HttpHandler } from "./http-handler.ts";

/** Where and with which certificates a server listens. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** What differs from the usual limits of connections. */
  readonly limits?: Partial<ConnectionLimits>;
  readonly tls: { readonly certPem: string; readonly keyPem: string; readonly clientCaPem?: string };
}

/** A listening server. */
export interface Listener {
  readonly port: number;
  /** New certificates for new connections, without interrupting the old ones. */
  setCertificates(tls: ListenOptions["tls"]): void;
  close(): Promise<void>;
}

const MAX_STREAMS_PER_CONNECTION = 250;
const MAX_HEADER_BYTES = 128 * 1024;
const GRACE_MS = 5_000;
/** The fastest where processors know AES, and what Go's servers choose too. */
const FIRST_CIPHER = "TLS_AES_128_GCM_SHA256";
const CIPHERS = DEFAULT_CIPHERS.split(":")
  .sort((a, b) => Number(b === FIRST_CIPHER) - Number(a === FIRST_CIPHER))
  .join(":");

/** Listens with TLS, HTTP/2 and HTTP/1.1 on one port. Client certificates are requested but not required, because tokens work as well. */
export async function listen(handler: HttpHandler, options: ListenOptions, clock: Clock): Promise<Listener> {
  const server = createSecureServer({
    ...secureOptions(options.tls),
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    maxHeaderSize: MAX_HEADER_BYTES,
    ...TLS_TIME_LIMITS,
    settings: {
      maxConcurrentStreams: MAX_STREAMS_PER_CONNECTION,
      maxHeaderListSize: MAX_HEADER_BYTES,
      initialWindowSize: 1024 * 1024,
    },
  } as Parameters<typeof createSecureServer>[0]);
  limitConnections(server, { ...DEFAULT_CONNECTION_LIMITS, ...options.limits }, clock);
  // Its HTTP/1 side looks here and not at the options; selectors of kubectl may be long.
  Object.assign(server, { maxHeaderSize: MAX_HEADER_BYTES, ...HTTP_TIME_LIMITS });
  const accepted = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    accepted.add(socket);
    socket.once("close", () => accepted.delete(socket));
  });
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    // HTTP/2 frames are small; waiting to fill packets only adds latency.
    socket.setNoDelay(true);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket));
  server.on("request", (request, response) => handler.serve(request, response));
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    setCertificates: (tls) => server.setSecureContext(secureOptions(tls)),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await handler.close(GRACE_MS);
      for (const session of sessions) session.close();
      // The remaining connections are in their handshake, which an unauthenticated client could prolong forever.
      const open = new Set([...sockets].map((socket) => socket.remotePort));
      for (const socket of accepted) if (!open.has(socket.remotePort)) socket.destroy();
      for (const socket of sockets) socket.destroySoon();
      await closed;
    },
  };
}

const REFUSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  // The parser knows no other methods, so no handler can answer; kube-apiserver has none for them either.
  HPE_INVALID_METHOD: "405 Method Not Allowed",
};

/** Answers malformed HTTP/1 before the connection is closed. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = REFUSALS[error.code ?? ""] ?? "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

function secureOptions(tls: ListenOptions["tls"]): { cert: string; key: string; ciphers: string; ca?: string } {
  const { certPem, keyPem, clientCaPem } = tls;
  return { cert: certPem, key: keyPem, ciphers: CIPHERS, ca: clientCaPem };
}

function listening(server: Http2SecureServer, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
