import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import {
  type ApiResponse,
  AttemptLimit,
  type Clock,
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  HTTP_TIME_LIMITS,
  limitConnections,
  markAuthenticated,
  type Random,
  TLS_TIME_LIMITS,
  type Transport,
  type UserInfo,
} from "@capstan/apimachinery";
import type { ProviderDescription } from "@capstan/capi";
import type { Logger } from "@capstan/runtime";
import { Access } from "./access.ts";
import { failure, proxyRequest, readBody } from "./api-proxy.ts";
import { clusterAccess } from "./cluster-access.ts";
import { clusterKubeconfig } from "./cluster-kubeconfig.ts";
import { type GuardOptions, guard, isData, securityHeaders } from "./guard.ts";
import { plannedCluster } from "./plan.ts";
import type { ControlPlaneHome, SessionInfo } from "./protocol.ts";
import { providerInfos } from "./providers.ts";
import type { Identity, Session, Sessions } from "./sessions.ts";
import { loadStaticFiles, type StaticFile } from "./static-files.ts";
import { serveStream } from "./stream.ts";
import type { Views } from "./views.ts";

/** Creates transports that reach the management API as a given user. */
export interface ActingTransport {
  /** As an authenticated user. */
  asUser(user: UserInfo): Transport;
  /** As the user of the token. */
  withToken(token: string): Transport;
}

/** What the dashboard's HTTP server needs. */
export interface DashboardServerOptions {
  readonly host: string;
  readonly port: number;
  /** Without it only loopback is served: passwords and cookies must not cross a network in the clear. */
  readonly tls?: { readonly certPem: string; readonly keyPem: string; readonly clientCaPem: string } | undefined;
  /** Accepted host names, in addition to localhost and IP addresses. */
  readonly names?: readonly string[] | undefined;
  /** Folder of the built dashboard. */
  readonly pageDir: string;
  readonly views: Views;
  readonly providers: readonly ProviderDescription[];
  readonly sessions: Sessions;
  readonly acting: ActingTransport;
  /** Returns the existing namespaces. */
  readonly namespaces: () => Promise<readonly string[]>;
  readonly controlPlanes: () => Promise<ControlPlaneHome>;
  readonly version: string;
  /** Overrides of the default connection limits. */
  readonly limits?: Partial<ConnectionLimits> | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A running dashboard server. */
export interface DashboardServer {
  readonly url: string;
  close(): Promise<void>;
}

const MAX_CREDENTIAL_BYTES = 64 * 1024;
const MAX_PLAN_BYTES = 256 * 1024;
const MAX_TOPICS = 20;
/** Rate limit of failed sign-ins, per client address. */
const SIGN_IN_LIMIT = { max: 20, windowMs: 60_000, maxAddresses: 10_000 };

/** Returns whether an address is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Serves the dashboard's files, sign-in, event stream and API proxy. */
export async function startDashboardServer(options: DashboardServerOptions): Promise<DashboardServer> {
  if (options.tls === undefined && !isLoopback(options.host))
    throw new Error(`the dashboard is served without TLS on loopback only, not on ${options.host}`);
  const files = await loadStaticFiles(options.pageDir);
  const handler = new Handler(options, files);
  const listener = (request: IncomingMessage, response: ServerResponse): void => handler.serve(request, response);
  const { tls } = options;
  const server: Server =
    tls === undefined
      ? createServer(HTTP_TIME_LIMITS, listener)
      : createTlsServer(
          {
            cert: tls.certPem,
            key: tls.keyPem,
            ca: tls.clientCaPem,
            requestCert: true,
            rejectUnauthorized: false,
            ...HTTP_TIME_LIMITS,
            ...TLS_TIME_LIMITS,
          },
          listener,
        );
  limitConnections(server, { ...DEFAULT_CONNECTION_LIMITS, ...options.limits }, options.clock);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  const shown = options.host.includes(":")
    ? `[${options.host}]`
    : options.host === "0.0.0.0"
      ? "localhost"
      : options.host;
  return {
    url: `${tls === undefined ? "http" : "https"}://${shown}:${port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

class Handler {
  readonly #options: DashboardServerOptions;
  readonly #files: ReadonlyMap<string, StaticFile>;
  readonly #guard: GuardOptions;
  readonly #attempts: AttemptLimit;

  constructor(options: DashboardServerOptions, files: ReadonlyMap<string, StaticFile>) {
    this.#options = options;
    this.#files = files;
    this.#attempts = new AttemptLimit(SIGN_IN_LIMIT, options.clock);
    this.#guard = { scheme: options.tls === undefined ? "http" : "https", names: options.names ?? [] };
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    this.#route(request, response).catch((error: unknown) => {
      this.#options.log.error("The dashboard failed to answer a request", { error, path: request.url ?? "" });
      if (response.headersSent) response.destroy();
      else this.#answer(response, failure(500, "internal error: see the manager's log"));
    });
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = urlOf(request);
    const method = request.method ?? "GET";
    if (url === undefined) return this.#answer(response, failure(400, "the request has no valid URL"));
    const refusal = guard(method, url.pathname, request.headers, this.#guard);
    if (refusal !== undefined) return this.#answer(response, failure(refusal.status, refusal.message));
    if (!isData(url.pathname)) return this.#page(request, response, url.pathname);
    if (url.pathname === "/auth/session" && method === "POST") return await this.#signIn(request, response);
    const id = this.#cookieOf(request);
    const session = this.#options.sessions.find(id);
    if (session === undefined || id === undefined)
      return this.#answer(response, failure(401, "sign in with the link that `capstan up` printed, or with a token"));
    markAuthenticated(request.socket);
    if (url.pathname === "/auth/session" && method === "DELETE") {
      await this.#options.sessions.remove(id);
      response.setHeader("set-cookie", this.#cookie(request, "", 0));
      return this.#answer(response, { status: 200, headers: {}, body: {}, warnings: [] });
    }
    const transport = this.#transportOf(session.identity);
    const { providers } = this.#options;
    try {
      if (url.pathname === "/auth/session") return this.#answer(response, await this.#whoAmI(transport, session));
      if (url.pathname === "/control-planes" && method === "GET") {
        // A session may outlive its token, but its permissions do not.
        if ((await userOf(transport)) === undefined) return this.#answer(response, NOT_ACCEPTED);
        const body = await this.#options.controlPlanes();
        return this.#answer(response, { status: 200, headers: {}, body, warnings: [] });
      }
      if (url.pathname === "/providers" && method === "GET")
        return this.#answer(response, { status: 200, headers: {}, body: providerInfos(providers), warnings: [] });
      if (url.pathname === "/plan" && method === "POST") {
        const plan = await readBody(request, MAX_PLAN_BYTES);
        if (plan === "too large")
          return this.#answer(response, failure(413, `a plan is limited to ${MAX_PLAN_BYTES} bytes`));
        return this.#answer(response, await plannedCluster(transport, plan.toString("utf8"), providers));
      }
      if (url.pathname === "/stream" && method === "GET") return await this.#stream(request, response, url, session);
      if (url.pathname.startsWith("/kubeconfig/") && method === "GET")
        return await this.#kubeconfig(response, transport, url.pathname);
      if (!url.pathname.startsWith("/k8s/")) return this.#answer(response, failure(404, "not found"));
      const path = url.pathname.slice("/k8s".length);
      this.#answer(response, await proxyRequest(transport, request, path, url.searchParams));
    } finally {
      if (url.pathname !== "/stream") await transport.close();
    }
  }

  #page(request: IncomingMessage, response: ServerResponse, path: string): void {
    if (request.method !== "GET" && request.method !== "HEAD")
      return this.#answer(response, failure(405, "only GET is allowed here"));
    const file = this.#files.get(path);
    const index = this.#files.get("/index.html");
    if (file !== undefined && file !== index) return sendFile(request, response, file);
    // The dashboard routes in the browser: any other path serves index.html.
    if (index === undefined || path.startsWith("/assets/"))
      return this.#answer(
        response,
        failure(404, index === undefined ? "the dashboard is not built: npm run build" : "not found"),
      );
    const nonce = Buffer.from(this.#options.random.bytes(16)).toString("base64url");
    const html = index.bytes.toString("utf8").replaceAll("__NONCE__", nonce);
    response.writeHead(200, {
      ...securityHeaders(nonce),
      "content-type": index.type,
      "cache-control": "no-store",
      "content-length": Buffer.byteLength(html),
    });
    response.end(request.method === "HEAD" ? undefined : html);
  }

  async #signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const succeed = this.#attempts.begin(request.socket.remoteAddress ?? "");
    if (succeed === undefined)
      return this.#answer(response, failure(429, "too many failed attempts from your address; wait a minute"));
    const identity = await this.#identityOf(request);
    if (identity === undefined)
      return this.#answer(
        response,
        failure(401, "not accepted: the link was already used or has expired, or the token is not valid"),
      );
    const transport = this.#transportOf(identity);
    try {
      // A session may replace an older one, so only authenticated users get one.
      if ((await userOf(transport)) === undefined) return this.#answer(response, NOT_ACCEPTED);
      const { id, session } = await this.#options.sessions.create(identity);
      const answer = await this.#whoAmI(transport, session);
      if (answer.status !== 200) {
        await this.#options.sessions.remove(id);
        return this.#answer(response, answer);
      }
      succeed();
      const seconds = Math.floor((session.expiresMs - this.#options.clock.now()) / 1000);
      response.setHeader("set-cookie", this.#cookie(request, id, seconds));
      this.#answer(response, answer);
    } finally {
      await transport.close();
    }
  }

  async #identityOf(request: IncomingMessage): Promise<Identity | undefined> {
    const bytes = await readBody(request, MAX_CREDENTIAL_BYTES);
    const given = bytes === "too large" ? undefined : parseCredentials(bytes.toString("utf8"));
    if (given?.type === "link") return this.#options.sessions.redeem(given.code);
    if (given?.type === "token") return given.token === "" ? undefined : { type: "token", token: given.token };
    if (given?.type === "certificate") return certificateIdentity(request.socket as TLSSocket);
    return undefined;
  }

  async #whoAmI(transport: Transport, session: Session): Promise<ApiResponse> {
    const info = await userOf(transport);
    if (info === undefined) return NOT_ACCEPTED;
    const body: SessionInfo = {
      user: info.name,
      groups: info.groups,
      expires: new Date(session.expiresMs).toISOString(),
      version: this.#options.version,
      certificates: this.#options.tls !== undefined,
      clusters: await clusterAccess(transport, this.#options.namespaces),
    };
    return { status: 200, headers: {}, body, warnings: [] };
  }

  async #stream(request: IncomingMessage, response: ServerResponse, url: URL, session: Session): Promise<void> {
    const { views, clock } = this.#options;
    const header = request.headers["last-event-id"];
    const topics: { topic: NonNullable<Awaited<ReturnType<Views["topic"]>>>; after: string | undefined }[] = [];
    for (const wanted of url.searchParams.getAll("topic").slice(0, MAX_TOPICS)) {
      const [name = "", after] = wanted.split("@");
      const topic = await views.topic(name);
      if (topic === undefined) return this.#answer(response, failure(404, `topic ${name} not found`));
      topics.push({ topic, after: typeof header === "string" ? header : after });
    }
    request.socket.setNoDelay(true);
    response.writeHead(200, {
      ...securityHeaders(undefined),
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    const transport = this.#transportOf(session.identity);
    response.once("close", () => void transport.close());
    serveStream({ response, topics, sequence: views.sequence, access: new Access(transport), clock });
  }

  async #kubeconfig(response: ServerResponse, transport: Transport, path: string): Promise<void> {
    const match = /^\/kubeconfig\/([a-z0-9.-]+)\/([a-z0-9.-]+)$/.exec(path);
    if (match === null) return this.#answer(response, failure(404, "not found"));
    const [, namespace = "", name = ""] = match;
    const result = await clusterKubeconfig(transport, namespace, name);
    if (typeof result !== "string") return this.#answer(response, result);
    response.writeHead(200, {
      ...securityHeaders(undefined),
      "content-type": "application/yaml",
      "cache-control": "no-store",
      "content-disposition": `attachment; filename="${name}.kubeconfig"`,
    });
    response.end(result);
  }

  #transportOf(identity: Identity): Transport {
    const { acting } = this.#options;
    return identity.type === "user" ? acting.asUser(identity.user) : acting.withToken(identity.token);
  }

  #answer(response: ServerResponse, { status, body, warnings }: ApiResponse): void {
    const text = JSON.stringify(body ?? {});
    response.writeHead(status, {
      ...securityHeaders(undefined),
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(warnings.length === 0 ? {} : { "x-capstan-warnings": encodeURIComponent(JSON.stringify(warnings)) }),
    });
    response.end(text);
  }

  /** Cookies are not bound to a port, so the name distinguishes two dashboards on one machine. */
  #cookieName(port: number | undefined): string {
    return `${this.#options.tls === undefined ? "" : "__Host-"}capstan-${port ?? 0}`;
  }

  #cookie(request: IncomingMessage, value: string, seconds: number): string {
    const secure = this.#options.tls === undefined ? "" : "; Secure";
    return `${this.#cookieName(request.socket.localPort)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
  }

  #cookieOf(request: IncomingMessage): string | undefined {
    const prefix = `${this.#cookieName(request.socket.localPort)}=`;
    const found = (request.headers.cookie ?? "").split(/;\s*/).find((part) => part.startsWith(prefix));
    return found?.slice(prefix.length);
  }
}

const NOT_ACCEPTED = failure(401, "the token is not accepted by the management API");

/** The user as the management API authenticates it; undefined when it rejects the credentials. */
async function userOf(transport: Transport): Promise<Pick<UserInfo, "name" | "groups"> | undefined> {
  const { status, body } = await transport.request({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    headers: { "content-type": "application/json" },
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} },
  });
  const info = (body as { status?: { userInfo?: { username?: string; groups?: string[] } } }).status?.userInfo;
  if (status >= 300 || info?.username === undefined || info.username === "system:anonymous") return undefined;
  return { name: info.username, groups: info.groups ?? [] };
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: StaticFile): void {
  const headers = {
    ...securityHeaders(undefined),
    "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
    etag: file.etag,
    vary: "accept-encoding",
  };
  if (request.headers["if-none-match"] === file.etag) {
    response.writeHead(304, headers).end();
    return;
  }
  const zipped = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  const bytes = zipped ? file.gzipped : file.bytes;
  response.writeHead(200, {
    ...headers,
    "content-type": file.type,
    "content-length": bytes.length,
    ...(zipped ? { "content-encoding": "gzip" } : {}),
  });
  response.end(request.method === "HEAD" ? undefined : bytes);
}

function urlOf(request: IncomingMessage): URL | undefined {
  try {
    return new URL(request.url ?? "/", "http://dashboard");
  } catch {
    return undefined;
  }
}

type Credentials = { type: "link"; code: string } | { type: "token"; token: string } | { type: "certificate" };

function parseCredentials(text: string): Credentials | undefined {
  try {
    const { code, token, certificate } = JSON.parse(text) as Record<string, unknown>;
    if (typeof code === "string") return { type: "link", code };
    if (typeof token === "string") return { type: "token", token: token.trim() };
    return certificate === true ? { type: "certificate" } : undefined;
  } catch {
    return undefined;
  }
}

/** The user of a client certificate: its common name, its organisations are the groups, as Kubernetes reads them. */
function certificateIdentity(socket: TLSSocket): Identity | undefined {
  if (socket.authorized !== true) return undefined;
  const { subject } = socket.getPeerCertificate();
  const groups = subject?.O === undefined ? [] : [subject.O].flat();
  if (subject?.CN === undefined || subject.CN === "") return undefined;
  return { type: "user", user: { name: String(subject.CN), groups: [...groups, "system:authenticated"] } };
}
