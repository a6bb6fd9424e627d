import { createHash } from "node:crypto";
import { type Clock, isObject, sleep } from "@capstan/apimachinery";
import { type DialGate, parseForeignJson, readText } from "@capstan/apimachinery/foreign";
import type { Agent } from "undici";
import { parseBmcAddress } from "../bmc-address.ts";
import type { InFlight } from "../in-flight.ts";
import type { HostIdentity } from "../provisioner.ts";
import { connectionError, RedfishError, wordsOf } from "./errors.ts";

/** A Redfish resource. */
export type Resource = Readonly<Record<string, unknown>>;

/** A response of a management controller. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

const TIMEOUT_MS = 30_000;
/** A large collection with all its members in it has some hundred kilobytes. */
const MAX_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 3;
const TASK_POLL_MS = 1_000;
const TASK_LIMIT_MS = 60_000;
/** What a machine has of one thing: drives, interfaces, media. */
const MAX_MEMBERS = 256;
/** For everything that one call of the driver reads: lists may lead to lists, and each answer alone may take half a minute. */
const MAX_REQUESTS = 1_000;
const MAX_CALL_BYTES = 16 * 1024 * 1024;
const CALL_LIMIT_MS = 10 * 60_000;

/** Client of one management controller with one set of credentials; uses sessions if supported, else Basic authentication. */
export class RedfishClient {
  readonly #host: HostIdentity;
  readonly #origin: string;
  readonly #inFlight: InFlight;
  readonly #clock: Clock;
  readonly #gate: DialGate;
  readonly #fingerprint: string;
  #agent: Agent | undefined;
  #token: string | undefined;
  #session: string | undefined;
  #basic = false;
  #call: { requests: number; bytes: number; readonly beganMs: number };

  constructor(host: HostIdentity, deps: { clock: Clock; inFlight: InFlight; gate: DialGate }) {
    this.#host = host;
    this.#origin = parseBmcAddress(host.address).origin;
    this.#inFlight = deps.inFlight;
    this.#clock = deps.clock;
    this.#gate = deps.gate;
    this.#fingerprint = fingerprintOf(host);
    this.#call = this.#newCall();
  }

  /** A call of the driver begins: what it may read is counted from here. */
  begin(): void {
    this.#call = this.#newCall();
  }

  #newCall(): { requests: number; bytes: number; readonly beganMs: number } {
    return { requests: 0, bytes: 0, beganMs: this.#clock.monotonic() };
  }

  #checkBudget(what: string): void {
    const { requests, bytes, beganMs } = this.#call;
    const why =
      requests > MAX_REQUESTS
        ? `more than ${MAX_REQUESTS} requests`
        : bytes > MAX_CALL_BYTES
          ? `more than ${MAX_CALL_BYTES} bytes`
          : this.#clock.monotonic() - beganMs > CALL_LIMIT_MS
            ? `more than ${CALL_LIMIT_MS / 60_000} minutes`
            : undefined;
    if (why !== undefined)
      throw new RedfishError(
        `${what}: reading the lists of the management controller takes ${why}, which exceeds the limit`,
      );
  }

  /** Whether it still fits the host: address, credentials and trust are the same. */
  fits(host: HostIdentity): boolean {
    return this.#fingerprint === fingerprintOf(host);
  }

  /** Reads a resource; a status other than 200 is an error. */
  async get(path: string, signal: AbortSignal): Promise<Resource> {
    const { body } = await this.request("GET", path, undefined, signal);
    if (!isObject(body)) throw new RedfishError(`GET ${path}: the answer is not a JSON object`);
    return body;
  }

  /** Reads a resource that not every management controller has. */
  async find(path: string, signal: AbortSignal): Promise<Resource | undefined> {
    try {
      return await this.get(path, signal);
    } catch (error) {
      if (error instanceof RedfishError && error.status !== undefined && [400, 404, 405, 501].includes(error.status))
        return undefined;
      throw error;
    }
  }

  /** The members of a collection. */
  async members(path: string, signal: AbortSignal): Promise<Resource[]> {
    const collection = await this.find(path, signal);
    const list = Array.isArray(collection?.["Members"]) ? collection["Members"] : [];
    if (list.length > MAX_MEMBERS)
      throw new RedfishError(
        `GET ${path}: it lists ${list.length} members, more than the ${MAX_MEMBERS} that are read`,
      );
    const found: Resource[] = [];
    for (const entry of list) {
      const link = linkOf(entry);
      const member = link === undefined ? undefined : await this.find(link, signal);
      if (member !== undefined) found.push(member);
    }
    return found;
  }

  /** Sends a request and waits for its task, if it becomes one. */
  async request(
    method: Method,
    path: string,
    body: object | undefined,
    signal: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    let answer = await this.#authorized(method, path, body, signal, headers);
    // A session expires when the management controller restarts or has too many.
    if (answer.status === 401 && this.#token !== undefined) {
      this.#token = undefined;
      answer = await this.#authorized(method, path, body, signal, headers);
    }
    if (answer.status === 202) return await this.#task(method, path, answer, signal);
    if (answer.status >= 300) throw answerError(`${method} ${path}`, answer);
    return answer;
  }

  /** Closes the session. */
  async close(signal: AbortSignal): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    try {
      if (session !== undefined && this.#token !== undefined)
        await this.#send("DELETE", session, undefined, { "x-auth-token": this.#token }, signal);
    } catch (error) {
      if (!(error instanceof RedfishError)) throw error;
    } finally {
      this.#token = undefined;
      await this.#agent?.destroy();
      this.#agent = undefined;
    }
  }

  async #authorized(
    method: Method,
    path: string,
    body: object | undefined,
    signal: AbortSignal,
    headers: Record<string, string>,
  ): Promise<Answer> {
    if (this.#token === undefined && !this.#basic) await this.#login(signal);
    const { username, password } = this.#host.credentials;
    const basic = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const authorization: Record<string, string> =
      this.#token === undefined ? { authorization: basic } : { "x-auth-token": this.#token };
    return await this.#send(method, path, body, { ...headers, ...authorization }, signal);
  }

  async #login(signal: AbortSignal): Promise<void> {
    const root = await this.#send("GET", "/redfish/v1/", undefined, {}, signal);
    const links = isObject(root.body) ? root.body["Links"] : undefined;
    const sessions = isObject(links) ? linkOf(links["Sessions"]) : undefined;
    if (root.status >= 400 && root.status !== 401) throw answerError("GET /redfish/v1/", root);
    this.#basic = true;
    if (sessions === undefined) return;
    const { username, password } = this.#host.credentials;
    const answer = await this.#send("POST", sessions, { UserName: username, Password: password }, {}, signal);
    const token = headerOf(answer, "x-auth-token");
    if (answer.status < 300 && token !== undefined) {
      this.#token = token;
      this.#basic = false;
      this.#session = pathOf(headerOf(answer, "location"), this.#origin);
    } else if (answer.status === 400 || answer.status === 401 || answer.status === 403) {
      this.#basic = false;
      throw answerError(`POST ${sessions}`, { ...answer, status: 401 });
    }
  }

  async #task(method: Method, path: string, first: Answer, signal: AbortSignal): Promise<Answer> {
    const monitor = pathOf(headerOf(first, "location"), this.#origin);
    if (monitor === undefined) return first;
    for (let waited = 0; waited < TASK_LIMIT_MS; waited += TASK_POLL_MS) {
      await sleep(this.#clock, TASK_POLL_MS, signal);
      const answer = await this.#authorized("GET", monitor, undefined, signal, {});
      const state = isObject(answer.body) ? answer.body["TaskState"] : undefined;
      if (state === "Exception" || state === "Killed" || state === "Cancelled")
        throw new RedfishError(`${method} ${path}: its task finished with ${state}${wordsOf(answer.body)}`);
      if (answer.status >= 400) throw answerError(`GET ${monitor} (task of ${method} ${path})`, answer);
      if (answer.status !== 202 && (state === undefined || state === "Completed")) return answer;
    }
    throw new RedfishError(`${method} ${path}: its task was not done within ${TASK_LIMIT_MS / 1000} s`);
  }

  async #send(
    method: Method,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Answer> {
    let target = path;
    for (let count = 0; count <= MAX_REDIRECTS; count++) {
      const answer = await this.#inFlight.run(this.#origin, signal, () =>
        this.#once(method, target, body, headers, signal),
      );
      if (answer.status !== 301 && answer.status !== 302 && answer.status !== 307 && answer.status !== 308)
        return answer;
      const next = pathOf(headerOf(answer, "location"), this.#origin);
      // Credentials must never follow a redirect to another server.
      if (next === undefined)
        throw new RedfishError(`${method} ${target}: redirects to another server, which is refused`);
      target = next;
    }
    throw new RedfishError(`${method} ${path}: too many redirects`);
  }

  async #once(
    method: Method,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Answer> {
    this.#call.requests++;
    this.#checkBudget(`${method} ${this.#origin}${path.slice(0, MAX_SHOWN)}`);
    const agent = await this.#connect().catch((error: unknown) => {
      throw connectionError(`${method} ${this.#origin}${path}`, error);
    });
    const abort = new AbortController();
    const stop = (): void => abort.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const cancel = this.#clock.after(TIMEOUT_MS, () =>
      abort.abort(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)),
    );
    try {
      const response = await agent.request({
        origin: this.#origin,
        path,
        method,
        headers: {
          accept: "application/json",
          "odata-version": "4.0",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: abort.signal,
      });
      const text = await readText(response.body, MAX_BYTES, `${method} ${path.slice(0, MAX_SHOWN)}`);
      this.#call.bytes += text.length;
      return { status: response.statusCode, headers: response.headers, body: jsonOf(text) };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw connectionError(`${method} ${this.#origin}${path}`, error);
    } finally {
      cancel();
      signal.removeEventListener("abort", stop);
    }
  }

  async #connect(): Promise<Agent> {
    if (this.#agent !== undefined) return this.#agent;
    // undici costs a fifth of a second to load: only those who have such hosts pay.
    const { Agent } = await import("undici");
    const { credentials, disableCertificateVerification } = this.#host;
    this.#agent ??= new Agent({
      maxResponseSize: MAX_BYTES,
      // How long an answer may take is the clock's to say.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
      connections: 4,
      connect: {
        ...this.#gate.guardUrl(this.#origin),
        timeout: 10_000,
        ...(credentials.ca === undefined ? {} : { ca: credentials.ca }),
        ...(disableCertificateVerification ? { rejectUnauthorized: false } : {}),
      },
    });
    return this.#agent;
  }
}

/** Of a path that is shown in an error. */
const MAX_SHOWN = 200;
const MAX_LINK = 2_000;

/** Returns the `@odata.id` of a link. */
export function linkOf(value: unknown): string | undefined {
  const link = isObject(value) ? value["@odata.id"] : undefined;
  return typeof link === "string" && link.startsWith("/") && link.length <= MAX_LINK ? link : undefined;
}

/** Returns a header that has a single value. */
export function headerOf({ headers }: Answer, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function pathOf(location: string | undefined, origin: string): string | undefined {
  if (location === undefined) return undefined;
  try {
    const url = new URL(location, origin);
    return url.origin === origin ? `${url.pathname}${url.search}` : undefined;
  } catch {
    return undefined;
  }
}

function answerError(what: string, answer: Answer): RedfishError {
  const { status } = answer;
  const said = `${what}: the management controller answered ${status}${wordsOf(answer.body)}`;
  if (status === 401 || status === 403)
    return new RedfishError(
      `${said}: correct username and password in the Secret of spec.bmc.credentialsName, and give that user administrator privileges`,
      { access: "refused", status },
    );
  return new RedfishError(said, { status });
}

function jsonOf(text: string): unknown {
  try {
    return parseForeignJson(text, "");
  } catch {
    return undefined;
  }
}

function fingerprintOf({ address, credentials, disableCertificateVerification }: HostIdentity): string {
  const { username, password, ca } = credentials;
  return createHash("sha256")
    .update(JSON.stringify([address, username, password, ca, disableCertificateVerification]))
    .digest("hex");
}
