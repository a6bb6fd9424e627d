import {
  type ApiRequest,
  type ApiResponse,
  type Clock,
  type Transport,
  trimEndOf,
  type Upgraded,
  type WatchEvent,
} from "@capstan/apimachinery";
import { parseForeignJson, readText, withinTime } from "@capstan/apimachinery/foreign";
import { responseError } from "../client/response-error.ts";
import { type Agents, type Answer, type CreateAgents, createAgents } from "./agents.ts";
import type { ClientConfig, Credentials, Impersonation } from "./client-config.ts";
import { LineSplitter } from "./line-splitter.ts";
import { untrustedPeer } from "./peer-certificate.ts";
import { warningTexts } from "./warnings.ts";

const READ_IDLE_MS = 150_000;
/** A list of all objects of a large installation; more does not fit into one of Node's texts. */
const MAX_ANSWER = 512 * 1024 * 1024;
const REQUEST_TOTAL_MS = 10 * 60_000;
/** Response limit for untrusted servers: a page of 200 Nodes is some megabytes. */
const FOREIGN_ANSWER = 16 * 1024 * 1024;
const FOREIGN_EVENT = 4 * 1024 * 1024;
const FOREIGN_TOTAL_MS = 120_000;
/** Of an answer that says no. */
const MAX_REFUSAL = 1024 * 1024;

/** Creates a transport over HTTP/1.1 and TLS that connects on demand, with undici by default. */
export function httpTransport(config: ClientConfig, deps: { clock: Clock; agents?: CreateAgents }): Transport {
  return new HttpTransport(config, deps.clock, deps.agents ?? createAgents);
}

class HttpTransport implements Transport {
  readonly #config: ClientConfig;
  readonly #clock: Clock;
  readonly #create: CreateAgents;
  readonly #base: string;
  readonly #fixedHeaders: Record<string, string | string[]>;
  #agents: { certPem: string | undefined; opened: Promise<Agents> } | undefined;
  #closed = false;

  constructor(config: ClientConfig, clock: Clock, create: CreateAgents) {
    this.#config = config;
    this.#clock = clock;
    this.#create = create;
    this.#base = trimEndOf(config.server, "/");
    this.#fixedHeaders = {
      accept: "application/json",
      "user-agent": config.userAgent ?? "capstan",
      ...impersonationHeaders(config.impersonate),
    };
  }

  async request(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    const foreign = this.#config.gate !== undefined;
    const { requestTotalMs: ms = foreign ? FOREIGN_TOTAL_MS : REQUEST_TOTAL_MS } = this.#config;
    const { maxAnswerBytes = foreign ? FOREIGN_ANSWER : MAX_ANSWER } = this.#config;
    const what = `${request.method} ${this.#base}${request.path}`;
    const { answer, text } = await withinTime({ clock: this.#clock, ms, what, signal }, async (limited) => {
      const answer = await this.#send(request, false, limited);
      return { answer, text: await readText(answer.body, maxAnswerBytes, what) };
    });
    const isJson = String(answer.headers["content-type"] ?? "").includes("json");
    return {
      status: answer.statusCode,
      headers: flatten(answer.headers),
      body: isJson && text !== "" ? this.#parse(text, what) : text,
      warnings: warningTexts(answer.headers["warning"]),
      ...(foreign ? { bytes: text.length } : {}),
    };
  }

  async *watch(request: ApiRequest, signal?: AbortSignal): AsyncGenerator<WatchEvent> {
    const stop = new AbortController();
    const abort = (): void => stop.abort(signal?.reason);
    if (isAborted(signal)) return;
    signal?.addEventListener("abort", abort, { once: true });
    const idle = this.#idleTimer(request, stop);
    try {
      const answer = await this.#send(request, true, stop.signal);
      if (answer.statusCode !== 200) throw await refusal(answer, request);
      const foreign = this.#config.gate !== undefined;
      const what = `GET ${this.#base}${request.path}`;
      const lines = new LineSplitter(this.#config.maxAnswerBytes ?? (foreign ? FOREIGN_EVENT : undefined));
      for await (const chunk of answer.body) {
        idle.touch();
        for (const line of lines.push(chunk as Buffer)) {
          const event = this.#parse(line, what) as WatchEvent;
          yield foreign ? { type: event.type, object: event.object, bytes: line.length } : event;
        }
      }
      if (lines.partial) throw new Error(`the watch of ${request.path} was cut off inside an event`);
    } catch (error) {
      if (isAborted(signal)) return;
      throw stop.signal.aborted ? stop.signal.reason : error;
    } finally {
      idle.cancel();
      signal?.removeEventListener("abort", abort);
      // Frees the connection when the reader leaves early.
      stop.abort();
    }
  }

  async upgrade(request: ApiRequest, signal?: AbortSignal): Promise<Upgraded> {
    const credentials = await this.#credentials();
    const agents = await this.#agentsFor(credentials);
    try {
      const { headers, socket } = await agents.upgrade(this.#base + request.path + queryText(request.query), {
        method: request.method,
        // The response is not a document: a server rejects a request for one.
        headers: { ...this.#headers(request, credentials), accept: "*/*" },
        signal,
      });
      return { headers: flatten(headers), socket };
    } catch (error) {
      if (isAborted(signal)) throw error;
      // A rejection has no body: the same request without the protocol upgrade returns the message.
      const { headers: _upgrade, ...plain } = request;
      const answer = await this.request(plain, signal);
      // Servers answer 400 to a request without the protocol upgrade.
      if (answer.status >= 400 && answer.status !== 400) throw responseError(answer, `GET ${request.path}`);
      throw new Error(`${this.#base}${request.path}: ${reasonOf(error)}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const agents = await this.#agents?.opened.catch(() => undefined);
    await agents?.destroy();
  }

  async #send(request: ApiRequest, watch: boolean, signal: AbortSignal | undefined): Promise<Answer> {
    const used = await this.#credentials();
    const answer = await this.#sendAs(used, request, watch, signal);
    if (answer.statusCode !== 401 || this.#config.credentials?.invalidate(used) !== true) return answer;
    // Tokens expire while a process runs; one fresh try, as client-go makes for exec plugins.
    await answer.body.dump();
    return await this.#sendAs(await this.#credentials(), request, watch, signal);
  }

  #parse(text: string, what: string): unknown {
    return this.#config.gate === undefined ? JSON.parse(text) : parseForeignJson(text, what);
  }

  async #credentials(): Promise<Credentials> {
    return (await this.#config.credentials?.get()) ?? {};
  }

  async #sendAs(
    credentials: Credentials,
    request: ApiRequest,
    watch: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    if (this.#closed) throw new Error(`the connection to ${this.#base} was closed`);
    const agents = await this.#agentsFor(credentials);
    try {
      return await agents.send(this.#base + request.path + queryText(request.query), watch, {
        method: request.method,
        headers: this.#headers(request, credentials),
        ...(request.body === undefined ? {} : { body: encode(request.body) }),
        signal,
      });
    } catch (error) {
      if (isAborted(signal)) throw error;
      const peer = await untrustedPeer(this.#config, error, this.#clock);
      const reason = peer === undefined ? reasonOf(error) : `${reasonOf(error)}; ${peer}`;
      throw new Error(`${this.#base} cannot be reached: ${reason}`, { cause: error });
    }
  }

  #headers(request: ApiRequest, credentials: Credentials): Record<string, string | string[]> {
    const headers: Record<string, string | string[]> = { ...this.#fixedHeaders };
    const { token, basic } = credentials;
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    else if (basic !== undefined)
      headers["authorization"] = `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
    if (request.body !== undefined) headers["content-type"] = "application/json";
    for (const [name, value] of Object.entries(request.headers ?? {})) headers[name.toLowerCase()] = value;
    return headers;
  }

  #agentsFor(credentials: Credentials): Promise<Agents> {
    const old = this.#agents;
    if (old !== undefined && old.certPem === credentials.certPem) return old.opened;
    const opened = this.#create(this.#config, credentials);
    const made = { certPem: credentials.certPem, opened };
    this.#agents = made;
    // An address that is refused now may be served from here later: the next request tries again.
    opened.catch(() => {
      if (this.#agents === made) this.#agents = undefined;
    });
    // Requests on an old certificate finish; its watches end and come back on the new one.
    old?.opened.then((agents) => agents.retire()).catch(() => undefined);
    return opened;
  }

  /** Bookmarks arrive about once a minute, so a long silence means that the peer has disappeared. */
  #idleTimer(request: ApiRequest, stop: AbortController): { touch: () => void; cancel: () => void } {
    if (request.query?.["allowWatchBookmarks"] !== "true") return { touch: () => undefined, cancel: () => undefined };
    const limit = this.#config.readIdleMs ?? READ_IDLE_MS;
    let last = this.#clock.monotonic();
    const arm = (ms: number): (() => void) =>
      this.#clock.after(ms, () => {
        const silent = this.#clock.monotonic() - last;
        if (silent >= limit) {
          stop.abort(new Error(`no sign of life from ${this.#base} for ${Math.round(silent / 1000)} s`));
        } else cancel = arm(limit - silent);
      });
    let cancel = arm(limit);
    return {
      touch: () => {
        last = this.#clock.monotonic();
      },
      cancel: () => cancel(),
    };
  }
}

/** A function, as the compiler would take the first look for the last word. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** What went wrong; when several addresses were tried, what the first one said. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

async function refusal(answer: Answer, request: ApiRequest): Promise<Error> {
  let body: unknown;
  try {
    body = JSON.parse(await readText(answer.body, MAX_REFUSAL, request.path));
  } catch {
    // A proxy's page, or one without end: its status says enough.
  }
  return responseError({ status: answer.statusCode, body }, `the watch of ${request.path}`);
}

function impersonationHeaders(as: Impersonation | undefined): Record<string, string | string[]> {
  if (as === undefined) return {};
  return {
    "impersonate-user": as.user,
    ...(as.uid === undefined ? {} : { "impersonate-uid": as.uid }),
    ...(as.groups === undefined || as.groups.length === 0 ? {} : { "impersonate-group": [...as.groups] }),
    ...Object.fromEntries(
      Object.entries(as.extra ?? {}).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
        [...values],
      ]),
    ),
  };
}

function queryText(query: ApiRequest["query"]): string {
  if (query === undefined) return "";
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const single of typeof value === "string" ? [value] : value) parameters.append(name, single);
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

function encode(body: unknown): string | Uint8Array {
  return body instanceof Uint8Array || typeof body === "string" ? body : JSON.stringify(body);
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}
