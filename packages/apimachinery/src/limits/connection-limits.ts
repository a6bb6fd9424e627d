import type { EventEmitter } from "node:events";
import type { Clock } from "../clock.ts";
import { addressGroup } from "./address-group.ts";

/** How many connections a server holds, and how long it waits for those that have not proved who they are. */
export interface ConnectionLimits {
  /** All connections together. When it is reached, the oldest unauthenticated connection that makes no progress makes room. */
  readonly maxConnections: number;
  /** Unauthenticated connections of one address (one /64 in IPv6). Clients that have authenticated do not count. */
  readonly maxUnauthenticatedPerAddress: number;
  /** An unauthenticated connection that sends no complete request for this long is closed. Covers the TLS handshake. */
  readonly quietMs: number;
  /** An unauthenticated connection that has requests open for this long, because it does not read their answers, is closed. */
  readonly answerMs: number;
}

/** Generous: a thousand clients behind one address can connect at once, since each counts only until its first request. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 4096,
  maxUnauthenticatedPerAddress: 512,
  quietMs: 30_000,
  answerMs: 90_000,
};

/** Unauthenticated requests are answered at once; one that is open for longer waits for a client that does not read. */
const BUSY_MS = 5_000;

/** Options of node's HTTP/1 servers: clients that send a request slowly are disconnected. Responses may take as long as they need. */
export const HTTP_TIME_LIMITS = { headersTimeout: 15_000, requestTimeout: 60_000, connectionsCheckingInterval: 5_000 };

/** Option of node's TLS servers: a handshake takes a few round trips. */
export const TLS_TIME_LIMITS = { handshakeTimeout: 10_000 };

/** The part of a socket that limits look at. */
interface LimitedSocket {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  once(event: "close", listener: () => void): unknown;
  destroy(): unknown;
}

interface Connection {
  readonly socket: LimitedSocket;
  readonly key: string;
  readonly group: string;
  authenticated: boolean;
  requests: number;
  /** Since when it has requests. */
  busySinceMs: number;
  /** Stops the wait for the next request, or for the end of the open ones. */
  cancel: () => void;
}

/** By the objects that handlers see: sockets, TLS sockets and HTTP/2 sessions. */
const known = new WeakMap<object, { limiter: Limiter; connection: Connection }>();

/** Exempts a connection from the limits for unauthenticated ones; takes the request's socket or HTTP/2 session. */
export function markAuthenticated(socketOrSession: object): void {
  const found = known.get(socketOrSession);
  found?.limiter.authenticated(found.connection);
}

/** Enforces limits on all connections of an http, https or http2 server. Call it before the server listens. */
export function limitConnections(server: EventEmitter, limits: ConnectionLimits, clock: Clock): void {
  const limiter = new Limiter(limits, clock);
  server.on("connection", (socket: LimitedSocket) => limiter.open(socket));
  server.on("secureConnection", (socket: LimitedSocket) => limiter.alias(socket, socket));
  server.on("session", (session: { socket: LimitedSocket }) => limiter.alias(session, session.socket));
  server.on("request", (request: HttpRequestLike, response: HttpResponseLike) => limiter.request(request, response));
}

interface HttpRequestLike {
  readonly socket: LimitedSocket;
  readonly stream?: { readonly session?: object | undefined };
}

interface HttpResponseLike {
  once(event: "close", listener: () => void): unknown;
}

class Limiter {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  /** All connections, by the client's address and port. */
  readonly #open = new Map<string, Connection>();
  /** Unauthenticated connections of each address, the oldest first. */
  readonly #strangers = new Map<string, Set<Connection>>();

  constructor(limits: ConnectionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  open(socket: LimitedSocket): void {
    const group = addressGroup(socket.remoteAddress ?? "");
    const key = keyOf(socket);
    const connection: Connection = {
      socket,
      key,
      group,
      authenticated: false,
      requests: 0,
      busySinceMs: 0,
      cancel: () => undefined,
    };
    if (!this.#makeRoom(group)) {
      socket.destroy();
      return;
    }
    this.#open.set(key, connection);
    const strangers = this.#strangers.get(group) ?? new Set();
    this.#strangers.set(group, strangers.add(connection));
    known.set(socket, { limiter: this, connection });
    this.#wait(connection);
    socket.once("close", () => {
      if (this.#open.get(key) === connection) this.#open.delete(key);
      this.#forget(connection);
    });
  }

  /** Handlers see the TLS socket or the HTTP/2 session, not the socket that was accepted. */
  alias(object: object, socket: LimitedSocket): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection !== undefined) known.set(object, { limiter: this, connection });
  }

  request(request: HttpRequestLike, response: HttpResponseLike): void {
    const connection = known.get(request.stream?.session ?? request.socket)?.connection;
    if (connection === undefined) return;
    if (connection.requests++ === 0) {
      connection.busySinceMs = this.#clock.monotonic();
      this.#wait(connection);
    }
    response.once("close", () => {
      if (--connection.requests === 0) this.#wait(connection);
    });
  }

  authenticated(connection: Connection): void {
    if (connection.authenticated) return;
    connection.authenticated = true;
    this.#forget(connection);
  }

  #wait(connection: Connection): void {
    if (connection.authenticated) return;
    const { quietMs, answerMs } = this.#limits;
    connection.cancel();
    connection.cancel = this.#clock.after(connection.requests === 0 ? quietMs : answerMs, () =>
      connection.socket.destroy(),
    );
  }

  #forget(connection: Connection): void {
    connection.cancel();
    const strangers = this.#strangers.get(connection.group);
    strangers?.delete(connection);
    if (strangers?.size === 0) this.#strangers.delete(connection.group);
  }

  /** Closes the oldest connection that makes no progress where a limit is reached; false if all of them are in use. */
  #makeRoom(group: string): boolean {
    const { maxConnections, maxUnauthenticatedPerAddress } = this.#limits;
    const own = this.#strangers.get(group);
    if ((own?.size ?? 0) >= maxUnauthenticatedPerAddress && !this.#closeIdle(own ?? [])) return false;
    if (this.#open.size < maxConnections) return true;
    for (const strangers of this.#strangers.values()) if (this.#closeIdle(strangers)) return true;
    return false;
  }

  #closeIdle(connections: Iterable<Connection>): boolean {
    const busyFrom = this.#clock.monotonic() - BUSY_MS;
    for (const connection of connections) {
      if (connection.requests > 0 && connection.busySinceMs >= busyFrom) continue;
      this.#open.delete(connection.key);
      this.#forget(connection);
      connection.socket.destroy();
      return true;
    }
    return false;
  }
}

/** The same for a socket and the TLS socket on top of it. */
function keyOf({ remoteAddress, remotePort }: LimitedSocket): string {
  return `${remoteAddress ?? ""}|${remotePort ?? ""}`;
}
