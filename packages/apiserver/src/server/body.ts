import {
  badRequest,
  decodeKubernetesProtobuf,
  deepCopy,
  MAX_DEPTH,
  parseYaml,
  unsupportedMediaType,
} from "@capstan/apimachinery";
import { countKeys, duplicateFields } from "./json-scan.ts";
import { parseYamlInWorker } from "./yaml-worker.ts";

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
}

/** Parsing YAML takes some 0.5 ms per 10 KiB: larger bodies must not hold up other requests. */
const YAML_IN_WORKER_BYTES = 256 * 1024;

/** `application/json; charset=utf-8` → `application/json`. */
export function mediaTypeOf(contentType: string | undefined): string {
  if (contentType === undefined) return "";
  const end = contentType.indexOf(";");
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

const OBJECT_TYPES = "application/json, application/yaml";
const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** Parses the body of a create, update or delete. Protobuf is for built-in kinds only. */
export async function parseObjectBody(body: RequestBody, mediaType: string, protobuf: boolean): Promise<ParsedBody> {
  if (body.type === "value") return { value: deepCopy(body.value), duplicates: [] };
  if (body.type === "none") throw badRequest("the request has no body: send the object");
  switch (mediaType) {
    case "":
    case "application/json":
      return parseJson(body.bytes.toString());
    case "application/yaml":
      return { value: await parseYamlBody(body.bytes), duplicates: [] };
    case PROTOBUF:
      if (protobuf) return { value: decodeKubernetesProtobuf(body.bytes), duplicates: [] };
      break;
    default:
  }
  const accepted = protobuf ? `${OBJECT_TYPES}, ${PROTOBUF}` : OBJECT_TYPES;
  throw unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${accepted}`);
}

/** Parses the body of a JSON-like patch. */
export function parseJsonPatchBody(body: RequestBody): ParsedBody {
  if (body.type === "value") return { value: deepCopy(body.value), duplicates: [] };
  if (body.type === "none") throw badRequest("the request has no body: send the patch");
  return parseJson(body.bytes.toString());
}

/** Parses the body of an apply patch: YAML, of which JSON is a part. */
export async function parseApplyBody(body: RequestBody): Promise<ParsedBody> {
  if (body.type === "value") return { value: deepCopy(body.value), duplicates: [] };
  if (body.type === "none") throw badRequest("the request has no body: send the object to apply");
  const first = firstVisible(body.bytes);
  if (first === "{") {
    try {
      return parseJson(body.bytes.toString());
    } catch {
      // Flow-style YAML looks like JSON at first.
    }
  }
  return { value: await parseYamlBody(body.bytes), duplicates: [] };
}

function firstVisible(bytes: Buffer): string {
  for (const byte of bytes) if (byte > 32) return String.fromCharCode(byte);
  return "";
}

function parseJson(text: string): ParsedBody {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is not valid JSON: ${error instanceof Error ? error.message : "cannot be parsed"}`);
  }
  const keys = countKeys(value);
  if (keys === undefined) throw tooDeep();
  return { value, duplicates: duplicateFields(text, keys) };
}

async function parseYamlBody(bytes: Buffer): Promise<unknown> {
  const value = bytes.length > YAML_IN_WORKER_BYTES ? await parseYamlInWorker(bytes.toString()) : yaml(bytes.toString());
  if (countKeys(value) === undefined) throw tooDeep();
  return value;
}

function yaml(text: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    throw badRequest(`error converting YAML to JSON: ${error instanceof Error ? error.message : "cannot be parsed"}`);
  }
}

function tooDeep(): Error {
  return badRequest(`the object is nested deeper than ${MAX_DEPTH} levels: flatten it`);
}
