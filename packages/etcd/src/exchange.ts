import { type IncomingMessage, request as overSocket } from "node:http";
import { request } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as secure, TLSSocket } from "node:tls";
import { parseForeignJson, readText } from "@capstan/apimachinery/foreign";
import type { EtcdConnect, EtcdCredentials } from "./client.ts";

/** The response to a call, if it succeeded. */
export async function exchange(
  url: URL,
  /** Undefined for GET. */
  body: object | undefined,
  credentials: EtcdCredentials,
  connect: EtcdConnect | undefined,
  signal: AbortSignal,
  token?: string,
): Promise<IncomingMessage> {
  const { ca, cert, key } = credentials;
  const socket = connect === undefined ? undefined : await secured(connect(url, signal), url, credentials, signal);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: token };
    const common = { method: body === undefined ? "GET" : "POST", signal, headers };
    const call =
      socket === undefined
        ? request(url, { ...common, agent: false, ca, cert, key }, resolve)
        : overSocket({ ...common, host: url.hostname, path: url.pathname, createConnection: () => socket }, resolve);
    call.on("error", reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
  if (socket !== undefined) response.once("close", () => socket.destroy());
  if (response.statusCode === 200) return response;
  throw new Error(`etcd: ${messageOf(await textOf(response))}`);
}

/** TLS over a connection that leads to a member, whose certificate must carry the host of the URL. A connection that has TLS is used as it is. */
export function secured(
  connecting: Promise<Duplex>,
  url: URL,
  { ca, cert, key }: EtcdCredentials,
  signal: AbortSignal,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    connecting.then((raw) => {
      if (raw instanceof TLSSocket) {
        if (signal.aborted) raw.destroy();
        else signal.addEventListener("abort", () => raw.destroy(), { once: true });
        return resolve(raw);
      }
      const failed = (error: Error): void => {
        socket.destroy();
        raw.destroy();
        reject(error);
      };
      // An address is no name that TLS may ask for; it is compared with the certificate all the same.
      const host = url.hostname.replace(/^\[|\]$/g, "");
      const name = isIP(host) === 0 ? { servername: host } : { host };
      const socket = secure({ socket: raw, ...name, ALPNProtocols: ["http/1.1"], ca, cert, key });
      raw.on("error", failed);
      raw.once("close", () => failed(new Error("etcd: the connection was closed")));
      socket.on("error", failed);
      socket.once("secureConnect", () => resolve(socket));
      socket.once("close", () => raw.destroy());
      // Closes a connection that is established too late, and one whose peer is or becomes silent.
      if (signal.aborted) failed(signal.reason);
      else signal.addEventListener("abort", () => failed(signal.reason), { once: true });
    }, reject);
  });
}

/** The error of a call that took too long. */
export function notWithin(timeoutMs: number): Error {
  return new Error(`etcd did not answer within ${timeoutMs / 1000} s`);
}

/** Member lists and status are some kilobytes; pods of another cluster may answer anything. */
const MAX_ANSWER = 4 * 1024 * 1024;

/** The text of a response, within limits. */
export function textOf(response: IncomingMessage): Promise<string> {
  return readText(response, MAX_ANSWER, "etcd");
}

/** The object in a text; an empty one if it is not JSON. */
export function parse(text: string): unknown {
  try {
    return parseForeignJson(text, "etcd") ?? {};
  } catch {
    return {};
  }
}

/** etcd's error message; other texts are not repeated, because any program may have answered. */
export function messageOf(text: string): string {
  const { message, error } = parse(text) as { message?: unknown; error?: unknown };
  const inner = typeof error === "object" && error !== null ? (error as { message?: unknown }).message : undefined;
  const said = [message, error, inner].find((each) => typeof each === "string") as string | undefined;
  return said === undefined ? "the response was rejected or interrupted" : said.slice(0, MAX_MESSAGE);
}

const MAX_MESSAGE = 500;
