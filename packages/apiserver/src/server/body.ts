import { isUtf8 } from "node:buffer";
import {
  ApiError,
  badRequest,
  type Clock,
  decodeKubernetesProtobuf,
  deepCopy,
  MAX_DEPTH,
  parseYaml,
  protobufType,
  requestEntityTooLarge,
  unsupportedMediaType,
} from "@capstan/apimachinery";
import { YAML_IN_WORKER_BYTES, YamlTooSlow, yamlToJson } from "@capstan/apimachinery/foreign";
import { LARGE_BYTES } from "../long-work.ts";
import {
  countKeys,
  duplicateFields,
  type FieldPlaces,
  fieldPlaces,
  hasTooManyValues,
  maxValues,
  structureProblem,
} from "./json-scan.ts";
import { summarizeBody } from "./summarize-body.ts";

/** A request's body as it arrives: bytes from a socket, or a value in process. */
export type RequestBody =
  | { readonly type: "none" }
  | { readonly type: "bytes"; readonly bytes: Buffer }
  | { readonly type: "value"; readonly value: unknown };

/** A parsed body: a private value that may be changed. */
export interface ParsedBody {
  readonly value: unknown;
  /** Complaints about repeated keys, for field validation. */
  readonly duplicates: readonly string[];
  /** Where fields stand, if some are repeated. */
  readonly places?: FieldPlaces | undefined;
}

/** Whether processing a body takes so long that it must yield to other requests. */
export function isLarge(body: RequestBody): boolean {
  return body.type === "bytes" && body.bytes.length > LARGE_BYTES;
}

/** `application/json; charset=utf-8` → `application/json`. */
export function mediaTypeOf(contentType: string | undefined): string {
  if (contentType === undefined) return "";
  const end = contentType.indexOf(";");
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  // Only an empty header means JSON.
  return type === "" ? contentType.trim() : type;
}

const OBJECT_TYPES = "application/json, application/yaml";
const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** Parses the body of a create, update or delete. Protobuf is for built-in kinds only. */
export async function parseObjectBody(
  body: RequestBody,
  mediaType: string,
  kind: string,
  protobuf: boolean,
  clock: Clock,
): Promise<ParsedBody> {
  if (body.type === "value") return { value: deepCopy(body.value), duplicates: [] };
  const bytes = body.type === "none" ? Buffer.alloc(0) : body.bytes;
  const unrecognized = (why: string): Error =>
    badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summarizeBody(bytes)})`);
  switch (mediaType) {
    case "":
    case "application/json":
      return parseJson(bytes.toString(), kind, (why) =>
        unrecognized(`couldn't get version/kind; json parse error: ${why}`),
      );
    case "application/yaml":
      return { value: await parseYamlBody(bytes, kind, unrecognized, clock), duplicates: [] };
    case PROTOBUF:
      if (protobuf) return { value: decodeProtobuf(bytes, unrecognized), duplicates: [] };
      break;
    default:
  }
  throw unknownFormat();
}

function unknownFormat(): Error {
  return unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${OBJECT_TYPES}, ${PROTOBUF}`,
  );
}

/** Rejects media types that parseObjectBody cannot read, before anything else is checked. */
export function checkMediaType(mediaType: string): void {
  if (mediaType !== "" && mediaType !== PROTOBUF && !OBJECT_TYPES.split(", ").includes(mediaType))
    throw unknownFormat();
}

/** apiVersion and kind of a protobuf body; undefined for other bodies. Works for kinds without tables, too. */
export function protobufTypeOf(body: RequestBody, mediaType: string): { apiVersion: string; kind: string } | undefined {
  return mediaType === PROTOBUF && body.type === "bytes" ? protobufType(body.bytes) : undefined;
}

const MAGIC = Buffer.from("k8s\0");

function decodeProtobuf(bytes: Buffer, unrecognized: (why: string) => Error): unknown {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw unrecognized("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  if (bytes.length === MAGIC.length) throw unrecognized("empty body");
  return decodeKubernetesProtobuf(bytes);
}

/** Parses the body of a JSON-like patch. Upstream refuses what is no JSON before it looks for the object. */
export function parseJsonPatchBody(body: RequestBody, kind: string): ParsedBody {
  if (body.type === "value") return { value: deepCopy(body.value), duplicates: [] };
  const refuse = (why: string): Error => badRequest(`${why} patch`);
  if (body.type === "none") throw refuse("invalid JSON");
  return parseJson(body.bytes.toString(), kind, refuse);
}

/** Parses the body of an apply patch: YAML, of which JSON is a part. */
export async function parseApplyBody(body: RequestBody, kind: string, clock: Clock): Promise<ParsedBody> {
  if (body.type === "value") return { value: deepCopy(body.value), duplicates: [] };
  // Nothing at all is an empty document, which is refused for what it is not.
  if (body.type === "none") return { value: null, duplicates: [] };
  const first = firstVisible(body.bytes);
  if (first === "{") {
    try {
      return parseJson(body.bytes.toString(), kind, badRequest);
    } catch (error) {
      // Flow-style YAML looks like JSON at first.
      if (error instanceof ApiError && error.code === 413) throw error;
    }
  }
  const value = await parseYamlBody(body.bytes, kind, (why) => badRequest(`error encoding patch: ${why}`), clock);
  return { value, duplicates: [] };
}

function firstVisible(bytes: Buffer): string {
  for (const byte of bytes) if (byte > 32) return String.fromCharCode(byte);
  return "";
}

function parseJson(text: string, kind: string, refuse: (why: string) => Error): ParsedBody {
  enforceValueLimit(text, kind);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse("invalid JSON");
  }
  const keys = countKeys(value);
  if (keys === undefined) throw tooDeep();
  const duplicates = duplicateFields(text, keys);
  return duplicates.length === 0 ? { value, duplicates } : { value, duplicates, places: fieldPlaces(text) };
}

async function parseYamlBody(
  bytes: Buffer,
  kind: string,
  refuse: (why: string) => Error,
  clock: Clock,
): Promise<unknown> {
  let value: unknown;
  let json: string | undefined;
  // Brackets and braces are structure wherever they stand in such a document, as in JSON; the YAML library takes minutes for many.
  if (!isUtf8(bytes)) throw refuse("yaml: invalid leading UTF-8 octet");
  if ("[{".includes(firstVisible(bytes) || " ")) enforceValueLimit(bytes.toString(), kind, 0);
  try {
    if (bytes.length > YAML_IN_WORKER_BYTES) json = await yamlToJson(bytes.toString(), clock);
    else value = parseYaml(bytes.toString());
  } catch (error) {
    if (error instanceof YamlTooSlow) throw requestEntityTooLarge(error.message);
    if (error instanceof ApiError) throw error;
    throw refuse(error instanceof Error ? error.message : "yaml: cannot be parsed");
  }
  if (json !== undefined) {
    enforceValueLimit(json, kind);
    value = JSON.parse(json);
  }
  if (countKeys(value) === undefined) throw tooDeep();
  if (hasTooManyValues(value, maxValues(kind))) throw tooMany(kind);
  return value;
}

/** Rejects bodies that would take too long to process, before they are parsed. */
function enforceValueLimit(json: string, kind: string, long?: number): void {
  const problem = structureProblem(json, maxValues(kind), long);
  if (problem !== undefined) throw problem === "deep" ? tooDeep() : tooMany(kind);
}

function tooMany(kind: string): Error {
  return requestEntityTooLarge(`the body has more than ${maxValues(kind)} values: split the object`);
}

function tooDeep(): Error {
  return badRequest(`the object is nested deeper than ${MAX_DEPTH} levels: flatten it`);
}
