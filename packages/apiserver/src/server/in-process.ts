import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type Status,
  type Transport,
  type UserInfo,
  type WatchEvent,
} from "@capstan/apimachinery";
import type { WatchSink } from "../registry/watch.ts";
import type { OutgoingEvent } from "../registry/watch-events.ts";
import type { ApiCall } from "./api-call.ts";
import type { RequestBody } from "./body.ts";
import type { Reply } from "./reply.ts";
import { addWarning } from "./warnings.ts";

/** A watcher in process that falls behind by this many events is cut off, like a slow socket. */
const MAX_WAITING_EVENTS = 50_000;

/** Reaches the server without a socket: same pipeline, but bodies are values and answers are the server's own frozen objects. */
export class InProcessTransport implements Transport {
  readonly #handle: (call: ApiCall) => Promise<Reply>;
  readonly #user: UserInfo | undefined;
  readonly #streams = new Set<() => void>();
  readonly #onClose: () => void;
  #closed = false;

  /** Without a user each request is authenticated by its headers, as on a socket. */
  constructor(handle: (call: ApiCall) => Promise<Reply>, user?: UserInfo, onClose: () => void = () => {}) {
    this.#handle = handle;
    this.#user = user;
    this.#onClose = onClose;
  }

  async request(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    signal?.throwIfAborted();
    if (this.#closed) throw new Error("the transport is closed");
    const call = callOf(request, this.#user);
    const reply = await this.#handle(call);
    const { body } = reply;
    return {
      status: reply.status,
      headers: lowerCase(reply.headers),
      body:
        body.type === "object"
          ? body.object
          : body.type === "list"
            ? body.object()
            : body.type === "raw"
              ? rawBody(body)
              : undefined,
      warnings: call.warnings,
    };
  }

  async *watch(request: ApiRequest, signal?: AbortSignal): AsyncIterable<WatchEvent> {
    signal?.throwIfAborted();
    if (this.#closed) throw new Error("the transport is closed");
    const query = { ...request.query, watch: "true" };
    const { status, body } = await this.#handle(callOf({ ...request, query }, this.#user));
    if (body.type !== "watch") {
      if (body.type === "object") throw new ApiError(body.object as Status);
      throw new ApiError({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        code: status,
        reason: "NotFound",
        message: "not found",
      });
    }
    const queue = new EventQueue();
    const stop = body.stream.start(queue);
    const end = (): void => queue.end();
    this.#streams.add(end);
    signal?.addEventListener("abort", end, { once: true });
    try {
      yield* queue.drain();
    } finally {
      stop();
      this.#streams.delete(end);
      signal?.removeEventListener("abort", end);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#streams) end();
    this.#onClose();
  }
}

/** Holds events between the writer's turn and the reader's. */
class EventQueue implements WatchSink {
  #events: WatchEvent[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  send(events: readonly OutgoingEvent[]): void {
    if (this.#ended) return;
    for (const { event } of events) this.#events.push(event);
    if (this.#events.length > MAX_WAITING_EVENTS) this.end();
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *drain(): AsyncGenerator<WatchEvent> {
    for (;;) {
      const batch = this.#events;
      this.#events = [];
      for (const event of batch) yield event;
      if (this.#events.length > 0) continue;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}

function callOf(request: ApiRequest, user: UserInfo | undefined): ApiCall {
  const warnings: string[] = [];
  return {
    method: request.method,
    path: request.path,
    query: queryOf(request.query),
    headers: lowerCase(request.headers),
    user,
    body: () => bodyOf(request.body),
    warnings,
    warn: (text) => addWarning(warnings, text),
  };
}

function bodyOf(body: unknown): RequestBody {
  if (body === undefined) return { type: "none" };
  if (body instanceof Uint8Array)
    return { type: "bytes", bytes: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
  if (typeof body === "string") return { type: "bytes", bytes: Buffer.from(body) };
  return { type: "value", value: body };
}

const NO_QUERY = new URLSearchParams();

function queryOf(query: ApiRequest["query"]): URLSearchParams {
  if (query === undefined) return NO_QUERY;
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const item of value) out.append(name, item);
    else if (value !== undefined) out.append(name, value);
  }
  return out;
}

function lowerCase(headers: Readonly<Record<string, string>> | undefined): Record<string, string | undefined> {
  const out: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers ?? {})) out[name.toLowerCase()] = value;
  return out;
}

function rawBody(body: { contentType: string; bytes: Buffer | string }): unknown {
  const text = body.bytes.toString();
  return body.contentType.startsWith("application/json") ? JSON.parse(text) : text;
}
