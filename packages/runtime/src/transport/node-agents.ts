import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import {
  type Agents,
  type Answer,
  createAgents,
  guardOf,
  MAX_CONNECTIONS,
  type Outgoing,
  REQUEST_TIMEOUT_MS,
  tlsOptions,
} from "./agents.ts";
import type { ClientConfig, Credentials } from "./client-config.ts";

const MAX_DUMP = 128 * 1024;

/**
 * Connects with Node's own HTTP client, for short-lived programs: it loads in a tenth of the time that undici takes. Proxies still need
 * undici.
 */
export async function nodeAgents(config: ClientConfig, credentials: Credentials): Promise<Agents> {
  if (config.proxyUrl !== undefined || config.connect !== undefined) return await createAgents(config, credentials);
  const secure = config.server.startsWith("https:");
  const http = await (secure ? import("node:https") : import("node:http"));
  const options = { keepAlive: true, ...guardOf(config), ...(secure ? tlsOptions(config, credentials) : {}) };
  const requests = new http.Agent({ ...options, maxSockets: config.connections ?? MAX_CONNECTIONS });
  const watches = new http.Agent(options);
  const timeout = config.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const open = (url: string, given: RequestOptions, answered: (response: IncomingMessage) => void) =>
    http.request(url, given, answered);
  return {
    send: (url, watch, outgoing) =>
      exchange(open, url, outgoing, watch ? { agent: watches } : { agent: requests, timeout }),
    upgrade: (url, outgoing) => changeProtocol(open, url, outgoing, { agent: watches }),
    retire: () => Promise.resolve(watches.destroy()),
    destroy: () => Promise.resolve([requests, watches].forEach((agent: Agent) => agent.destroy())),
  };
}

type Open = (url: string, options: RequestOptions, answered: (response: IncomingMessage) => void) => ClientRequest;

function exchange(open: Open, url: string, outgoing: Outgoing, how: RequestOptions): Promise<Answer> {
  const { method, body, signal } = outgoing;
  // Of some methods, DELETE among them, Node expects no body and would send it without saying how long it is.
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const headers = { ...outgoing.headers, ...length };
  return new Promise((resolve, reject) => {
    const request = open(url, { ...how, method, headers, ...(signal === undefined ? {} : { signal }) }, (response) =>
      resolve({
        statusCode: response.statusCode ?? 0,
        headers: response.headers,
        body: Object.assign(response, { dump: () => dump(response) }),
      }),
    );
    request.once("error", reject);
    request.once("timeout", () =>
      request.destroy(Object.assign(new Error("no answer in time"), { code: "ERR_REQUEST_TIMEOUT" })),
    );
    request.end(body);
  });
}

function changeProtocol(
  open: Open,
  url: string,
  { method, headers, signal }: Outgoing,
  how: RequestOptions,
): Promise<{ headers: Answer["headers"]; socket: Duplex }> {
  const wish = { ...headers, connection: "Upgrade", upgrade: "websocket" };
  return new Promise((resolve, reject) => {
    const request = open(
      url,
      { ...how, method, headers: wish, ...(signal === undefined ? {} : { signal }) },
      (response) => {
        response.destroy();
        reject(new Error(`the server answered ${response.statusCode ?? 0} and did not change protocol`));
      },
    );
    request.once("error", reject);
    request.once("upgrade", (response, socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      resolve({ headers: response.headers, socket });
    });
    request.end();
  });
}

/** Reads the rest of an unused response, so that the connection can be reused, unless it is long. */
async function dump(response: IncomingMessage): Promise<void> {
  let read = 0;
  for await (const chunk of response) {
    read += (chunk as Buffer).length;
    if (read > MAX_DUMP) break;
  }
}
