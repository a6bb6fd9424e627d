import { createHmac } from "node:crypto";
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  type Clock,
  HTTP_TIME_LIMITS,
  limitConnections,
  markAuthenticated,
  type Random,
  TLS_TIME_LIMITS,
} from "@capstan/apimachinery";
import type { MediaContent } from "./content.ts";

/** Where media are served, and for how long. */
export interface MediaServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** What to listen on, once there is something to serve; port 0 takes any. */
  readonly listen: { readonly host: string; readonly port: number | (() => Promise<number>) };
  /** Host name or address under which management controllers reach it; absent: what it listens on. */
  readonly advertise?: string;
  /** What is served to management controllers that take HTTPS, and where; absent: plain HTTP for all. */
  readonly tls?: {
    readonly port: number | (() => Promise<number>);
    readonly certificate: () => Promise<{ readonly certPem: string; readonly keyPem: string }>;
  };
  /** Secret that URLs are derived from. Kept across restarts, it lets a system that runs from its virtual CD keep it; random by default. */
  readonly secret?: () => Promise<Uint8Array>;
  /** How long an address is good after its owner last needed it; default one hour. */
  readonly lifetimeMs?: number;
}

interface Grant {
  readonly token: string;
  readonly content: MediaContent;
  readonly addresses: ReadonlySet<string>;
  /** Not served over plain HTTP. */
  readonly secure: boolean;
  untilMs: number;
}

const HOUR_MS = 3_600_000;
/** A management controller opens a few; several share an address behind a gateway. */
const CONNECTIONS = { maxConnections: 2048, maxUnauthenticatedPerAddress: 128, quietMs: 30_000, answerMs: 30_000 };
/** Some management controllers insist on the ending. */
const FILE_NAME = "media.iso";

/** Serves images to management controllers, each at an unguessable URL for a limited time and only to its own controller. */
export class MediaServer {
  readonly #options: MediaServerOptions;
  readonly #byKey = new Map<string, Grant>();
  readonly #byToken = new Map<string, Grant>();
  readonly #servers = new Map<boolean, Promise<Server>>();
  #secret: Uint8Array | undefined;

  constructor(options: MediaServerOptions) {
    this.#options = options;
  }

  /** Whether there is HTTPS. */
  get canSecure(): boolean {
    return this.#options.tls !== undefined;
  }

  /** Publishes an image to clients with one of these addresses; the same image under the same key keeps its URL. */
  async publish(
    key: string,
    content: MediaContent,
    addresses: readonly string[],
    secure = this.canSecure,
  ): Promise<string> {
    const server = await this.#listening(secure);
    const allowed = addresses.map(plain).sort();
    this.#secret ??= (await this.#options.secret?.()) ?? this.#options.random.bytes(32);
    const named = JSON.stringify([key, content.id, allowed]);
    const token = createHmac("sha256", this.#secret).update(named).digest("base64url");
    this.withdraw(key);
    const grant: Grant = { token, content, addresses: new Set(allowed), secure, untilMs: this.#until() };
    this.#byKey.set(key, grant);
    this.#byToken.set(token, grant);
    return this.#urlOf(grant, server);
  }

  /** Extends the lifetime of an image that was not withdrawn, as for a new one. */
  renew(key: string): void {
    const grant = this.#byKey.get(key);
    if (grant !== undefined) grant.untilMs = this.#until();
  }

  /** Withdraws an image. */
  withdraw(key: string): void {
    const grant = this.#byKey.get(key);
    if (grant === undefined) return;
    this.#byKey.delete(key);
    this.#byToken.delete(grant.token);
  }

  async close(): Promise<void> {
    const servers = await Promise.allSettled(this.#servers.values());
    this.#servers.clear();
    for (const started of servers) {
      if (started.status === "rejected") continue;
      started.value.closeAllConnections();
      await new Promise<void>((resolve) => started.value.close(() => resolve()));
    }
  }

  async #listening(secure: boolean): Promise<Server> {
    const known = this.#servers.get(secure);
    const starting = known ?? this.#listen(secure);
    this.#servers.set(secure, starting);
    try {
      return await starting;
    } catch (error) {
      this.#servers.delete(secure);
      throw error;
    }
  }

  async #listen(secure: boolean): Promise<Server> {
    const { listen, tls } = this.#options;
    const wanted = secure ? tls?.port : listen.port;
    const files = secure ? await tls?.certificate() : undefined;
    if (wanted === undefined || (secure && files === undefined)) throw new Error("media are not served by HTTPS");
    const handle = (request: IncomingMessage, response: ServerResponse): void => this.#serve(request, response, secure);
    const server =
      files === undefined
        ? createHttpServer(HTTP_TIME_LIMITS, handle)
        : createHttpsServer(
            { cert: files.certPem, key: files.keyPem, ...HTTP_TIME_LIMITS, ...TLS_TIME_LIMITS },
            handle,
          );
    limitConnections(server, CONNECTIONS, this.#options.clock);
    const port = typeof wanted === "number" ? wanted : await wanted();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, listen.host, () => {
        server.off("error", reject);
        resolve();
      });
    });
    server.unref();
    return server;
  }

  #urlOf({ token, secure }: Grant, server: Server): string {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const host = this.#options.advertise ?? this.#options.listen.host;
    return `${secure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}/media/${token}/${FILE_NAME}`;
  }

  #until(): number {
    return this.#options.clock.now() + (this.#options.lifetimeMs ?? HOUR_MS);
  }

  #isGood(grant: Grant): boolean {
    return this.#options.clock.now() < grant.untilMs;
  }

  #serve(request: IncomingMessage, response: ServerResponse, secure: boolean): void {
    const grant = this.#allowed(request, secure);
    // A client without access learns nothing, not even that the image exists.
    if (grant === undefined) return void response.writeHead(404).end();
    // Its address is its credential; reading an image may take hours.
    markAuthenticated(request.socket);
    if (request.method !== "GET" && request.method !== "HEAD")
      return void response.writeHead(405, { allow: "GET, HEAD" }).end();
    const { content } = grant;
    const range = rangeOf(request.headers.range, content.size);
    if (range === "unsatisfiable")
      return void response.writeHead(416, { "content-range": `bytes */${content.size}` }).end();
    const { from, to } = range ?? { from: 0, to: content.size - 1 };
    response.writeHead(range === undefined ? 200 : 206, {
      "content-type": "application/octet-stream",
      "accept-ranges": "bytes",
      "cache-control": "no-store",
      "content-length": to - from + 1,
      ...(range === undefined ? {} : { "content-range": `bytes ${from}-${to}/${content.size}` }),
    });
    if (request.method === "HEAD") return void response.end();
    // A reader that disconnects, or a base that cannot be read, closes this connection and affects nothing else.
    pipeline(Readable.from(content.read(from, to + 1)), response).catch(() => response.destroy());
  }

  #allowed(request: IncomingMessage, secure: boolean): Grant | undefined {
    const token = /^\/media\/([\w-]{43})\/media\.iso$/.exec(request.url ?? "")?.[1];
    const grant = token === undefined ? undefined : this.#byToken.get(token);
    if (grant === undefined || grant.secure !== secure || !this.#isGood(grant)) return undefined;
    return grant.addresses.has(plain(request.socket.remoteAddress ?? "")) ? grant : undefined;
  }
}

/** IPv4 addresses of IPv6 sockets look like ::ffff:10.0.0.1. */
function plain(address: string): string {
  return address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
}

function rangeOf(header: string | undefined, size: number): { from: number; to: number } | "unsatisfiable" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (match === null || (match[1] === "" && match[2] === "")) return undefined;
  const from = match[1] === "" ? Math.max(0, size - Number(match[2])) : Number(match[1]);
  const to = match[1] === "" || match[2] === "" ? size - 1 : Math.min(Number(match[2]), size - 1);
  return from > to || from >= size ? "unsatisfiable" : { from, to };
}
