import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import {
  ApiError,
  type ByteBudget,
  type ByteShare,
  type Clock,
  markAuthenticated,
  type Random,
  randomUuid,
  timeout,
  tooManyRequests,
} from "@capstan/apimachinery";
import type { ApiCall } from "./api-call.ts";
import { REQUEST_BODIES, readBody } from "./http-body.ts";
import { type HttpResponse, writeReply } from "./http-reply.ts";
import { writeWatch } from "./http-watch.ts";
import { type Reply, statusReply, textReply } from "./reply.ts";
import { parseRequestInfo } from "./request-info.ts";
import { requestTimeoutMs } from "./request-timeout.ts";
import { addWarning } from "./warnings.ts";

/** What a server's socket side works with. */
export interface HttpHandlerDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Answers a call; never throws. */
  handle(call: ApiCall): Promise<Reply>;
  onError(error: unknown): void;
  /** Default 10,000. */
  readonly maxWatches?: number;
  /** Memory for bodies; default: what all servers of the process share. */
  readonly bodies?: ByteBudget;
}

/** A node request of either protocol. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
/** A node response of either protocol. */
export type HttpServerResponse = ServerResponse | Http2ServerResponse;

const MAX_OPEN_WATCHES = 10_000;
const MAX_AUDIT_ID = 64;
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i;
const NO_QUERY = new URLSearchParams();

/** As Go: a pair that is escaped wrongly, or cut by a semicolon, is not there at all. */
function queryOf(text: string): URLSearchParams {
  if (!BROKEN_ESCAPE.test(text) && !text.includes(";")) return new URLSearchParams(text);
  const pairs = text.split("&").filter((pair) => !BROKEN_ESCAPE.test(pair) && !pair.includes(";"));
  return new URLSearchParams(pairs.join("&"));
}

/** Watches take as long as they like, below the old prefix too; a single object is got, whatever `watch` says. */
function isWatch({ method, path, query }: ApiCall): boolean {
  if (!query.has("watch") && !path.includes("/watch/")) return false;
  return parseRequestInfo(method, path, query).verb === "watch";
}

/** Serves HTTP requests of one API server; `prefix` is cut from paths when many servers share a listener. */
export class HttpHandler {
  readonly #deps: HttpHandlerDeps;
  readonly #watches = new Set<() => void>();
  readonly #certificates = new WeakMap<object, Uint8Array>();
  #active = 0;
  #closing = false;
  #idle: (() => void) | undefined;

  constructor(deps: HttpHandlerDeps) {
    this.#deps = deps;
  }

  /** Answers one request; connection failures are not reported, as they concern the client only. */
  serve(request: HttpRequest, response: HttpServerResponse, prefix = ""): void {
    this.#active++;
    this.#answer(request, response as unknown as HttpResponse & { destroy(): unknown }, prefix)
      .catch((error: unknown) => {
        this.#deps.onError(error);
        (response as { destroy?: () => unknown }).destroy?.();
      })
      .finally(() => {
        this.#active--;
        if (this.#active === 0) this.#idle?.();
      });
  }

  /** Closes all watches and waits for running requests, at most `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    for (const end of this.#watches) end();
    if (this.#active === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.clock.after(graceMs, resolve);
      this.#idle = () => {
        cancel();
        resolve();
      };
    });
  }

  async #answer(request: HttpRequest, response: HttpResponse & { destroy(): unknown }, prefix: string): Promise<void> {
    const share = (this.#deps.bodies ?? REQUEST_BODIES).share();
    try {
      await this.#answerWith(this.#callOf(request, prefix, share), response);
    } finally {
      // Discards what still arrives of the body after the response.
      share.release();
    }
  }

  async #answerWith(
    call: ApiCall & { readonly auditId: string },
    response: HttpResponse & { destroy(): unknown },
  ): Promise<void> {
    const { auditId } = call;
    const reply = await this.#replyTo(call);
    if (response.destroyed === true) return;
    const { body } = reply;
    if (body.type !== "watch") {
      await writeReply(response, call, reply, auditId);
      return;
    }
    if (this.#watches.size >= (this.#deps.maxWatches ?? MAX_OPEN_WATCHES) || this.#closing) {
      const refusal = tooManyRequests("too many open watches, please try again later", 5);
      await writeReply(response, call, statusReply(refusal.status), auditId);
      return;
    }
    const end = writeWatch(response, call, reply, body.stream, auditId, () => this.#watches.delete(end));
    this.#watches.add(end);
  }

  #replyTo(call: ApiCall): Promise<Reply> {
    // Go's server rejects such a request before any handler sees it.
    if (BROKEN_ESCAPE.test(call.path)) return Promise.resolve(textReply(400, "400 Bad Request"));
    if (isWatch(call)) return this.#deps.handle(call);
    let limitMs: number;
    try {
      limitMs = requestTimeoutMs(call.query);
    } catch (error) {
      if (error instanceof ApiError) return Promise.resolve(statusReply(error.status));
      throw error;
    }
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(limitMs, () =>
        resolve(statusReply(timeout("request did not complete within the allotted timeout").status)),
      );
      void this.#deps.handle(call).then((reply) => {
        cancel();
        resolve(reply);
      });
    });
  }

  #callOf(request: HttpRequest, prefix: string, share: ByteShare): ApiCall & { readonly auditId: string } {
    const url = request.url ?? "/";
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    const warnings: string[] = [];
    const certificate = this.#certificateOf(request);
    const given = request.headers["audit-id"];
    return {
      method: request.method ?? "GET",
      path: prefix !== "" && path.startsWith(prefix) ? path.slice(prefix.length) || "/" : path,
      query: mark < 0 ? NO_QUERY : queryOf(url.slice(mark + 1)),
      headers: request.headers as Record<string, string | undefined>,
      ...(certificate === undefined ? {} : certificate),
      auditId: typeof given === "string" && given.length <= MAX_AUDIT_ID ? given : randomUuid(this.#deps.random),
      // The address costs a system call: only the audit log needs it.
      get sourceAddress() {
        return request.socket.remoteAddress ?? "";
      },
      authenticated: () => markAuthenticated(connectionOf(request)),
      body: () => readBody(request, share),
      warnings,
      warn: (text) => addWarning(warnings, text),
    };
  }

  /** The client certificate: the same bytes for every request of a connection, so that parsing it is remembered. */
  #certificateOf(request: HttpRequest): Pick<ApiCall, "clientCertificate" | "badCertificate"> | undefined {
    const key = connectionOf(request);
    const socket = ("socket" in key ? key.socket : key) as TLSSocket;
    const known = this.#certificates.get(key);
    if (known !== undefined) return known.length === 0 ? undefined : { clientCertificate: known };
    if (typeof socket.getPeerCertificate !== "function") return undefined;
    const raw: Uint8Array | undefined = socket.getPeerCertificate()?.raw;
    if (raw !== undefined && raw.length > 0 && !socket.authorized) return { badCertificate: true };
    this.#certificates.set(key, raw ?? new Uint8Array());
    return raw === undefined || raw.length === 0 ? undefined : { clientCertificate: raw };
  }
}

/** What stands for a request's connection: its HTTP/2 session, or its socket. */
function connectionOf(request: HttpRequest): ServerHttp2Session | Socket {
  const stream = "stream" in request ? request.stream : undefined;
  return stream?.session === undefined ? request.socket : (stream.session as ServerHttp2Session);
}
