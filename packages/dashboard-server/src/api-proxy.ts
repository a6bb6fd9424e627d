import type { IncomingMessage } from "node:http";
import { type ApiRequest, type ApiResponse, isObject, type Transport } from "@capstan/apimachinery";

const MAX_BODY_BYTES = 3 * 1024 * 1024;
const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
const BODY_TYPES = new Set([
  "application/json",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/apply-patch+yaml",
]);
/** Holds whole objects, and so Secrets, in an annotation. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Forwards a dashboard request to the management API with the user's own permissions. `path` starts with /api, /apis or /version. */
export async function proxyRequest(
  transport: Transport,
  incoming: IncomingMessage,
  path: string,
  query: URLSearchParams,
): Promise<ApiResponse> {
  const method = incoming.method ?? "GET";
  if (!METHODS.has(method)) return failure(405, `${method} is not forwarded`);
  if (!/^\/(api|apis|version)(\/|$)/.test(path) || /(^|\/)\.{1,2}(\/|$)|%2f|%5c|\\/i.test(path))
    return failure(404, `${path} is not a path of the API`);
  // Watches use the one stream, because a browser opens at most six connections.
  if (query.get("watch") !== null && query.get("watch") !== "false") return failure(400, "watch with /stream");
  const body = method === "GET" || method === "DELETE" ? undefined : await readBody(incoming);
  if (body === "too large") return failure(413, `a request is limited to ${MAX_BODY_BYTES} bytes`);
  const type = (incoming.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
  if (body !== undefined && !BODY_TYPES.has(type))
    return failure(415, `content type ${type || "none"} is not forwarded`);
  const reveal = query.get("reveal") === "true";
  query.delete("reveal");
  const request: ApiRequest = {
    method: method as ApiRequest["method"],
    path,
    query: queryOf(query),
    headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": type }) },
    body,
  };
  const response = await transport.request(request);
  return reveal ? response : { ...response, body: withoutSecrets(response.body) };
}

function queryOf(query: URLSearchParams): Record<string, string[]> {
  const out: Record<string, string[]> = {};
  for (const key of new Set(query.keys())) out[key] = query.getAll(key);
  return out;
}

/** Replaces the values of a Secret or SecretList by their lengths; any other body is returned unchanged. */
export function withoutSecrets(body: unknown): unknown {
  if (!isObject(body)) return body;
  if (body["kind"] === "Secret" && body["apiVersion"] === "v1") return hide(body);
  if (Array.isArray(body["items"]) && body["kind"] === "SecretList")
    return { ...body, items: body["items"].map((item) => (isObject(item) ? hide(item) : item)) };
  return body;
}

function hide(secret: Record<string, unknown>): Record<string, unknown> {
  const { data, stringData: _, metadata, ...rest } = secret;
  const { annotations, managedFields: __, ...meta } = isObject(metadata) ? metadata : {};
  const kept = isObject(annotations)
    ? Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== LAST_APPLIED))
    : undefined;
  const hidden = isObject(data)
    ? Object.fromEntries(Object.entries(data).map(([key, value]) => [key, `<${decodedLength(value)} bytes hidden>`]))
    : undefined;
  return {
    ...rest,
    metadata: { ...meta, ...(kept === undefined ? {} : { annotations: kept }) },
    ...(hidden === undefined ? {} : { data: hidden }),
  };
}

function decodedLength(value: unknown): number {
  return typeof value === "string" ? Buffer.from(value, "base64").length : 0;
}

/** Reads the body of a request, up to a limit. */
export async function readBody(incoming: IncomingMessage, max = MAX_BODY_BYTES): Promise<Buffer | "too large"> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > max) return "too large";
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Builds an error response in the form of a Kubernetes Status. */
export function failure(code: number, message: string): ApiResponse {
  const body = { apiVersion: "v1", kind: "Status", metadata: {}, status: "Failure", code, message };
  return { status: code, headers: {}, body, warnings: [] };
}
