import { constants } from "node:crypto";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import {
  type Clock,
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  HTTP_TIME_LIMITS,
  limitConnections,
  TLS_TIME_LIMITS,
} from "@capstan/apimachinery";
import type { HttpRequest, HttpServerResponse } from "@capstan/apiserver";
import type { EmbeddedCluster } from "./embedded-clusters.ts";

/** Settings of the shared listener. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  /** What differs from the usual limits of connections. */
  readonly limits?: Partial<ConnectionLimits> | undefined;
  find(owner: string): EmbeddedCluster | undefined;
}

/** The HTTPS listener that all embedded clusters share. */
export interface EmbeddedListener {
  readonly port: number;
  close(): Promise<void>;
}

const SERVER_NAME = /^([^.]+(?:\.[^.]+)*)\.([^.]+)\.clusters\.capstan\.internal$/;
const PATH = /^\/clusters\/([^/?]+)\/([^/?]+)/;

/**
 * Serves every cluster under its path. Each has its own CA, so the certificate is selected by SNI (`tls-server-name` in kubeconfigs), and a
 * connection opened for one cluster cannot be used for another.
 */
export async function startListener(options: ListenerOptions): Promise<EmbeddedListener> {
  const contexts = new WeakMap<EmbeddedCluster, Promise<SecureContext>>();
  const contextOf = (cluster: EmbeddedCluster): Promise<SecureContext> => {
    let context = contexts.get(cluster);
    if (context === undefined) {
      context = cluster.options
        .serving(cluster.serverName)
        .then(({ certPem, keyPem }) => createSecureContext({ cert: certPem, key: keyPem, ca: cluster.caPem }));
      contexts.set(cluster, context);
      context.catch(() => contexts.delete(cluster));
    }
    return context;
  };
  const server = createSecureServer({
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    // OpenSSL resumes a TLS 1.3 session under any server name, with the client certificate that another cluster's authority vouched for.
    secureOptions: constants.SSL_OP_NO_TICKET,
    ...TLS_TIME_LIMITS,
    SNICallback: (name, done) => {
      const cluster = clusterNamed(name, options);
      if (cluster === undefined) {
        done(new Error(`there is no cluster ${name}`));
        return;
      }
      contextOf(cluster).then(
        (context) => done(null, context),
        (error: Error) => done(error),
      );
    },
  });
  limitConnections(server, { ...DEFAULT_CONNECTION_LIMITS, ...options.limits }, options.clock);
  Object.assign(server, HTTP_TIME_LIMITS);
  const sockets = new Set<Socket>();
  // By connection: a cluster that takes the name of a deleted one has another authority.
  const madeFor: Connections = new WeakMap();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("secureConnection", (socket) => {
    madeFor.set(socket, clusterOf(socket, options));
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
  });
  server.on("session", (session) => {
    madeFor.set(session, clusterOf(session.socket as TLSSocket, options));
    session.on("error", () => session.destroy());
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("clientError", (_error, socket: Socket) => socket.destroy());
  server.on("request", (request, response) => route(request, response, options, madeFor));
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function clusterNamed(serverName: string, options: ListenerOptions): EmbeddedCluster | undefined {
  const match = SERVER_NAME.exec(serverName);
  return match === null ? undefined : options.find(`${match[2]}/${match[1]}`);
}

/** Which cluster a connection was made for: its TLS socket, or its HTTP/2 session. */
type Connections = WeakMap<object, EmbeddedCluster | undefined>;

function clusterOf(
  socket: { readonly servername?: string | false | null },
  options: ListenerOptions,
): EmbeddedCluster | undefined {
  const { servername } = socket;
  return typeof servername === "string" ? clusterNamed(servername, options) : undefined;
}

function route(
  request: HttpRequest,
  response: HttpServerResponse,
  options: ListenerOptions,
  madeFor: Connections,
): void {
  const match = PATH.exec(request.url ?? "/");
  const cluster = match === null ? undefined : options.find(`${match[1]}/${match[2]}`);
  if (cluster === undefined || !cluster.reachable) {
    refuse(response, cluster === undefined ? 404 : 503);
    return;
  }
  const session = "stream" in request ? request.stream.session : undefined;
  if (madeFor.get(session ?? request.socket) !== cluster) {
    refuse(response, 421);
    return;
  }
  cluster.server.handle(request, response, cluster.path);
}

function refuse(response: HttpServerResponse, status: number): void {
  response.statusCode = status;
  response.end();
}

function listening(server: Http2SecureServer, { host, port }: ListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
