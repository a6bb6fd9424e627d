import { createHash } from "node:crypto";
import type { Clock } from "@capstan/apimachinery";
import { DEFINITIONS } from "../builtin/generated/schemas.ts";
import { type DocumentAnswer, type DocumentRequest, matchesEtag, type SlowDocumentHandler } from "../document.ts";
import type { ResourceRegistry, ResourceType } from "../types.ts";
import { documentKey } from "./naming.ts";
import { buildV2, type V2Format } from "./v2-build.ts";
import { v3Document } from "./v3.ts";

/** The minor version whose built-in schemas were recorded. */
const KUBERNETES_VERSION = "1.37";
const YEAR_MS = 365 * 24 * 3_600_000;
const KEPT_DOCUMENTS = 64;

interface GroupVersionTypes {
  readonly types: readonly ResourceType[];
  /** Of the inputs, so that the index needs no document to be built. */
  readonly hash: string;
}

/** Documents by hash, shared by all servers of the process: most of them serve the same kinds. */
const documents = new Map<string, Buffer | Promise<Buffer>>();
const schemaHashes = new WeakMap<object, string>();
let recordedHash: string | undefined;

function sha512(...parts: readonly string[]): string {
  const hash = createHash("sha512");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").toUpperCase();
}

/** Serves /openapi/v3 (index and one document per group version) and /openapi/v2 (JSON or protobuf). */
export function createOpenApi(registry: ResourceRegistry, clock: Clock): SlowDocumentHandler {
  let generation = -1;
  let index = new Map<string, GroupVersionTypes>();
  const current = (): Map<string, GroupVersionTypes> => {
    if (generation !== registry.generation()) {
      generation = registry.generation();
      index = indexTypes(registry.types());
    }
    return index;
  };
  return (request) => {
    const { path } = request;
    if (path === "/openapi/v2") return v2Answer(request, current());
    if (path === "/openapi/v3") return indexAnswer(current());
    if (!path.startsWith("/openapi/v3/")) return undefined;
    return v3Answer(request, path.slice("/openapi/v3/".length), current(), clock);
  };
}

function indexTypes(types: readonly ResourceType[]): Map<string, GroupVersionTypes> {
  const byKey = new Map<string, ResourceType[]>();
  for (const type of types) {
    const key = documentKey(type.group, type.version);
    const list = byKey.get(key);
    if (list === undefined) byKey.set(key, [type]);
    else list.push(type);
  }
  return new Map(
    [...byKey]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, list]) => {
        list.sort((a, b) => (a.plural < b.plural ? -1 : 1));
        return [key, { types: list, hash: sha512(key, ...list.map(typeHash)) }];
      }),
  );
}

/** What a type adds to its document, in short. Schemas of CRDs are hashed once per schema object. */
function typeHash(type: ResourceType): string {
  const { kind, plural, namespaced, verbs, status, scale, subresources, strategicMerge } = type;
  const shape = [kind, plural, namespaced, verbs, status, scale !== undefined, subresources.map((s) => s.name)];
  return JSON.stringify([...shape, strategicMerge, type.builtin ? hashOfRecorded() : hashOfSchema(type.schema)]);
}

function hashOfRecorded(): string {
  recordedHash ??= sha512(...Object.values(DEFINITIONS));
  return recordedHash;
}

function hashOfSchema(schema: object): string {
  let hash = schemaHashes.get(schema);
  if (hash === undefined) {
    hash = createHash("sha1").update(JSON.stringify(schema)).digest("hex");
    schemaHashes.set(schema, hash);
  }
  return hash;
}

const url = (key: string, hash: string): string => `/openapi/v3/${key}?hash=${hash}`;

function indexAnswer(index: ReadonlyMap<string, GroupVersionTypes>): DocumentAnswer {
  const paths = Object.fromEntries([...index].map(([key, { hash }]) => [key, { serverRelativeURL: url(key, hash) }]));
  return { status: 200, headers: { "content-type": "application/json" }, body: { paths } };
}

function v3Answer(
  request: DocumentRequest,
  key: string,
  index: ReadonlyMap<string, GroupVersionTypes>,
  clock: Clock,
): DocumentAnswer {
  const found = index.get(key);
  if (found === undefined) return { status: 404, headers: {}, body: "" };
  if (!accepts(request, "application/json"))
    return notAcceptable("the OpenAPI documents are served as application/json");
  const { hash, types } = found;
  const etag = `"${hash}"`;
  const headers: Record<string, string> = { etag, vary: "Accept" };
  const asked = request.query.get("hash") ?? "";
  if (asked !== "" && asked !== hash)
    return { status: 301, headers: { ...headers, location: url(key, hash) }, body: "" };
  if (asked !== "") {
    headers["cache-control"] = "public, immutable";
    headers["expires"] = new Date(clock.now() + YEAR_MS).toUTCString();
  }
  if (matchesEtag(request, etag)) return { status: 304, headers, body: "" };
  const body = remember(hash, () => JSON.stringify(v3Document(types, KUBERNETES_VERSION)));
  return { status: 200, headers: { ...headers, "content-type": "application/json" }, body };
}

function remember(hash: string, make: () => string): Buffer {
  let body = documents.get(hash);
  if (!Buffer.isBuffer(body)) {
    body = Buffer.from(make());
    keep(hash, body);
  }
  return body;
}

function keep(hash: string, body: Buffer | Promise<Buffer>): void {
  const oldest = documents.keys().next();
  if (documents.size >= KEPT_DOCUMENTS && oldest.done !== true) documents.delete(oldest.value);
  documents.set(hash, body);
}

/** Whether an Accept header admits a media type; parameters and weights are ignored. */
function accepts(request: DocumentRequest, mediaType: string): boolean {
  const { accept } = request.headers;
  if (accept === undefined || accept.trim() === "") return true;
  const wanted = accept.split(",").map((clause) => clause.split(";")[0]?.trim());
  return wanted.some((type) => type === mediaType || type === "*/*" || type === "application/*");
}

function notAcceptable(reason: string, vary = "Accept"): DocumentAnswer {
  return { status: 406, headers: { "content-type": "text/plain; charset=utf-8", vary }, body: `${reason}\n` };
}

const V2_VARY = "Accept-Encoding, Accept";
const PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** What kubectl requests; Go cannot parse it, so it is never the type of a response. */
const PROTOBUF_ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/** Swagger 2.0: as JSON for tools that know nothing newer, as protobuf because kubectl falls back to it for kinds it sees for the first time. */
async function v2Answer(
  request: DocumentRequest,
  index: ReadonlyMap<string, GroupVersionTypes>,
): Promise<DocumentAnswer> {
  const format: V2Format = accepts(request, "application/json") ? "json" : "protobuf";
  if (format === "protobuf" && !accepts(request, PROTOBUF) && !accepts(request, PROTOBUF_ASKED))
    return notAcceptable(`/openapi/v2 is served as application/json and ${PROTOBUF}`, V2_VARY);
  const hash = sha512("v2", ...[...index.values()].map((v) => v.hash));
  const etag = `"${hash}"`;
  const headers = { etag, vary: V2_VARY };
  if (matchesEtag(request, etag)) return { status: 304, headers, body: "" };
  const key = `${format} ${hash}`;
  const types = [...index.values()].flatMap((v) => v.types);
  const made = documents.get(key) ?? buildV2(types, KUBERNETES_VERSION, format);
  keep(key, made);
  const body = await made;
  return {
    status: 200,
    headers: { ...headers, "content-type": format === "json" ? "application/json" : PROTOBUF },
    body,
  };
}
