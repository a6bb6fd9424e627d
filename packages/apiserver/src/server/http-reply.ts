import { gzip } from "node:zlib";
import { toGoYaml } from "@capstan/apimachinery";
import { jsonToYaml, yieldToEventLoop } from "@capstan/apimachinery/foreign";
import type { ApiCall } from "./api-call.ts";
import { negotiate } from "./negotiation.ts";
import type { Reply, ReplyBody } from "./reply.ts";

/** The part of a response object that HTTP/1 and HTTP/2 share. */
export interface HttpResponse {
  writeHead(status: number, headers: Record<string, string | number | string[]>): unknown;
  write(chunk: Buffer, done?: (error?: Error | null) => void): boolean;
  end(chunk?: Buffer | string): unknown;
  once(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
  readonly writableEnded: boolean;
  readonly destroyed?: boolean;
}

const GZIP_MIN_BYTES = 128 * 1024;
/** Encrypting so much takes a fraction of a millisecond, and all copies of it on the way stay in the processor's cache. */
const WRITE_AT_ONCE_BYTES = 256 * 1024;
/** Copying so much costs more than another write. */
const LONG_BYTES = 64 * 1024;
const ITEMS = Buffer.from("items:\n");
const YAML_BYTES_AT_ONCE = 8 * 1024;

/** Writes everything but a watch. Lists go out piece by piece, so that a large one neither doubles in memory nor blocks. */
export async function writeReply(response: HttpResponse, call: ApiCall, reply: Reply, auditId: string): Promise<void> {
  const headers = headersOf(call, reply, auditId);
  if (reply.status === 304) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  const chunks = await encode(call, reply.body, headers);
  let size = 0;
  for (const chunk of chunks) size += chunk.length;
  if (call.method === "HEAD") {
    response.writeHead(reply.status, { ...headers, "Content-Length": size });
    response.end();
    return;
  }
  if (size >= GZIP_MIN_BYTES && acceptsGzip(call)) {
    const packed = await compress(Buffer.concat(chunks, size));
    response.writeHead(reply.status, {
      ...headers,
      "Content-Encoding": "gzip",
      Vary: alsoByEncoding(headers["Vary"]),
      "Content-Length": packed.length,
    });
    response.end(packed);
    return;
  }
  headers["Content-Length"] = size;
  response.writeHead(reply.status, headers);
  if (size <= WRITE_AT_ONCE_BYTES) {
    const [only] = chunks;
    response.end(chunks.length === 1 ? only : Buffer.concat(chunks, size));
  } else await writePieces(response, chunks);
}

/** Headers every answer carries, plus its own. */
export function headersOf(call: ApiCall, reply: Reply, auditId: string): Record<string, string | number | string[]> {
  const headers: Record<string, string | number | string[]> = {
    "Audit-Id": auditId,
    "Cache-Control": "no-cache, private",
  };
  // A 304 must not say anything about a body: caching clients would take it for the headers of what they have stored.
  if (reply.status !== 304) headers["Content-Type"] = "application/json";
  if (reply.headers !== undefined) {
    for (const [name, value] of Object.entries(reply.headers)) headers[canonical(name)] = value;
  }
  if (call.warnings.length > 0) headers["Warning"] = warningHeaders(call.warnings);
  return headers;
}

/** So that `content-type` from a handler replaces the default instead of being added to it. */
function canonical(name: string): string {
  return name.toLowerCase().replace(/(^|-)([a-z])/g, (match) => match.toUpperCase());
}

/** As upstream: UTF-8, which HTTP carries as it is; what has control characters is left out. */
function warningHeaders(warnings: readonly string[]): string[] {
  return warnings
    .filter((text) => !/\p{Cc}/u.test(text))
    .map((text) => `299 - "${Buffer.from(text.replace(/[\\"]/g, "\\$&")).toString("latin1")}"`);
}

function encode(
  call: ApiCall,
  body: ReplyBody,
  headers: Record<string, string | number | string[]>,
): readonly Buffer[] | Promise<readonly Buffer[]> {
  if (body.type === "raw") {
    headers["Content-Type"] = body.contentType;
    return [typeof body.bytes === "string" ? Buffer.from(body.bytes) : body.bytes];
  }
  if (body.type === "watch") return [];
  if (wantsYaml(call)) {
    headers["Content-Type"] = "application/yaml";
    return yamlPieces(body.type === "list" ? body.object() : body.object);
  }
  if (body.type === "list") return body.chunks();
  return [body.encoded?.bytes ?? Buffer.from(JSON.stringify(body.object))];
}

/** Items are written some at once, yielding to other requests in between: YAML takes a hundred times as long as JSON. */
async function yamlPieces(object: object): Promise<readonly Buffer[]> {
  const { items } = object as { items?: unknown };
  if (!Array.isArray(items) || items.length === 0) return [Buffer.from(await yamlOf(object))];
  const pieces: Buffer[] = [];
  for (const [name, value] of Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (name !== "items") {
      pieces.push(Buffer.from(toGoYaml({ [name]: value as unknown })));
      continue;
    }
    pieces.push(ITEMS);
    let some: unknown[] = [];
    let size = 0;
    for (const [i, item] of items.entries()) {
      some.push(item);
      size += JSON.stringify(item).length;
      if (size < YAML_BYTES_AT_ONCE && i < items.length - 1) continue;
      pieces.push(Buffer.from((await yamlOf({ items: some })).slice(ITEMS.length)));
      some = [];
      size = 0;
      await yieldToEventLoop();
    }
  }
  return pieces;
}

/** A single large object is converted in a worker thread. */
function yamlOf(object: object): string | Promise<string> {
  const json = JSON.stringify(object);
  return json.length > 2 * YAML_BYTES_AT_ONCE ? jsonToYaml(json) : toGoYaml(object);
}

function wantsYaml(call: ApiCall): boolean {
  const { accept } = call.headers;
  if (accept === undefined || !accept.includes("yaml")) return false;
  try {
    return negotiate(accept).format === "yaml";
  } catch {
    return false;
  }
}

/** As upstream: the bare word, without a weight that might say "rather not". */
function acceptsGzip(call: ApiCall): boolean {
  const accepted = call.headers["accept-encoding"];
  return accepted?.split(",").some((encoding) => encoding.trim() === "gzip") ?? false;
}

function alsoByEncoding(vary: string | number | string[] | undefined): string {
  if (vary === undefined) return "Accept-Encoding";
  const known = String(vary);
  return known.includes("Accept-Encoding") ? known : `${known}, Accept-Encoding`;
}

function compress(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(bytes, { level: 1 }, (error, packed) => (error === null ? resolve(packed) : reject(error)));
  });
}

/** One piece at a time: of what waits together, headers included, TLS makes a copy before it encrypts it. */
async function writePieces(response: HttpResponse, chunks: readonly Buffer[]): Promise<void> {
  let waiting: Buffer | undefined;
  for (const piece of piecesOf(chunks)) {
    if (waiting !== undefined && !(await written(response, waiting))) return;
    waiting = piece;
  }
  response.end(waiting);
}

/** Long chunks as they are, short ones together. */
function* piecesOf(chunks: readonly Buffer[]): Generator<Buffer> {
  let short: Buffer[] = [];
  let size = 0;
  for (const chunk of chunks) {
    const long = chunk.length >= LONG_BYTES;
    if (size > 0 && (long || size >= WRITE_AT_ONCE_BYTES)) {
      yield Buffer.concat(short, size);
      short = [];
      size = 0;
    }
    if (long) yield chunk;
    else {
      short.push(chunk);
      size += chunk.length;
    }
  }
  if (size > 0) yield Buffer.concat(short, size);
}

/** Resolves once the system has taken the piece; with false when the client went away meanwhile. */
function written(response: HttpResponse, piece: Buffer): Promise<boolean> {
  if (response.destroyed === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false);
    response.once("close", onClose);
    response.write(piece, (error) => {
      response.off("close", onClose);
      resolve(error === undefined || error === null);
    });
  });
}
