import { badRequest, unsupportedMediaType } from "../errors.ts";
import { goQuote } from "../go-text.ts";
import { isObject, type JsonObject, setOwn } from "../json.ts";
import type { Unstructured } from "../object.ts";
import { type FieldDescriptor, findKind, findMessage, type MessageDescriptor } from "./messages.ts";
import { readFields } from "./wire.ts";

const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const MAX_NESTING = 64;

/**
 * Decodes a body of type application/vnd.kubernetes.protobuf into the object its JSON form would be. Throws BadRequest for
 * broken bytes and UnsupportedMediaType for kinds without tables.
 */
export function decodeKubernetesProtobuf(bytes: Uint8Array): Unstructured {
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw badRequest("provided data does not appear to be a protobuf message, expected prefix 6b387300");
  }
  let apiVersion = "";
  let kind = "";
  let raw: Uint8Array = new Uint8Array();
  for (const { number, value } of readFields(bytes.subarray(MAGIC.length))) {
    if (!(value instanceof Uint8Array)) continue;
    if (number === 2) raw = value;
    if (number !== 1) continue;
    for (const field of readFields(value)) {
      if (field.number === 1) apiVersion = textOf(field.value);
      if (field.number === 2) kind = textOf(field.value);
    }
  }
  const message = findKind(apiVersion, kind);
  if (message === undefined) {
    throw unsupportedMediaType(
      `no protobuf tables for ${goQuote(kind)} in ${goQuote(apiVersion)}: send it as application/json`,
    );
  }
  const object = decodeMessage(raw, message, 0);
  const metadata = object["metadata"];
  return { apiVersion, kind, ...object, ...(isOptions(kind) ? {} : { metadata: metadata ?? {} }) } as Unstructured;
}

function isOptions(kind: string): boolean {
  return kind.endsWith("Options");
}

function decodeMessage(bytes: Uint8Array, message: MessageDescriptor, depth: number): JsonObject {
  if (depth > MAX_NESTING) throw badRequest("the protobuf body is nested too deeply");
  const out: JsonObject = {};
  for (const { number, value } of readFields(bytes)) {
    const field = message.get(number);
    if (field === undefined) continue;
    if (field.kind === "map") decodeEntry(out, field, value, depth);
    else if (field.kind === "repeated") {
      const list = out[field.name];
      const item = decodeValue(field, value, depth);
      if (Array.isArray(list)) list.push(item);
      else out[field.name] = [item];
    } else {
      const decoded = decodeValue(field, value, depth);
      if (decoded !== undefined && (field.pointer || !isZero(decoded))) out[field.name] = decoded;
    }
  }
  return out;
}

function decodeEntry(out: JsonObject, field: FieldDescriptor, value: bigint | Uint8Array, depth: number): void {
  let key = "";
  let item: unknown = field.type === "string" || field.type === "bytes" ? "" : [];
  for (const part of readFields(bytesOf(value))) {
    if (part.number === 1) key = textOf(part.value);
    if (part.number === 2) item = decodeValue(field, part.value, depth);
  }
  const existing = out[field.name];
  const map: JsonObject = isObject(existing) ? existing : {};
  setOwn(map, key, item);
  out[field.name] = map;
}

function decodeValue(field: FieldDescriptor, value: bigint | Uint8Array, depth: number): unknown {
  switch (field.type) {
    case "string":
      return textOf(value);
    case "bytes":
      return Buffer.from(bytesOf(value)).toString("base64");
    case "int":
      return Number(numberOf(value));
    case "bool":
      return numberOf(value) !== 0n;
    case "Time":
      return decodeTime(bytesOf(value), false);
    case "MicroTime":
      return decodeTime(bytesOf(value), true);
    case "FieldsV1":
      return decodeFields(bytesOf(value));
    case "ExtraValue":
      return [...readFields(bytesOf(value))].filter((f) => f.number === 1).map((f) => textOf(f.value));
    default: {
      const message = findMessage(field.scope, field.type);
      if (message === undefined) throw badRequest(`no protobuf table for message ${field.type}`);
      return decodeMessage(bytesOf(value), message, depth + 1);
    }
  }
}

/** The zero time is written as an empty message and means absent. */
function decodeTime(bytes: Uint8Array, micro: boolean): string | undefined {
  let seconds = 0;
  let nanos = 0;
  for (const { number, value } of readFields(bytes)) {
    if (number === 1) seconds = Number(numberOf(value));
    if (number === 2) nanos = Number(numberOf(value));
  }
  if (seconds === 0 && nanos === 0) return undefined;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw badRequest("a time in the protobuf body is out of range");
  const text = date.toISOString().replace(".000Z", "");
  return micro ? `${text}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z` : `${text}Z`;
}

function decodeFields(bytes: Uint8Array): unknown {
  for (const { number, value } of readFields(bytes)) {
    if (number !== 1) continue;
    try {
      return JSON.parse(textOf(value));
    } catch {
      throw badRequest("metadata.managedFields: fieldsV1 is not valid JSON");
    }
  }
  return {};
}

function isZero(value: unknown): boolean {
  if (value === "" || value === 0 || value === false) return true;
  return isObject(value) && Object.keys(value).length === 0;
}

function bytesOf(value: bigint | Uint8Array): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw badRequest("the protobuf body has a number where a message or text belongs");
}

function numberOf(value: bigint | Uint8Array): bigint {
  if (typeof value === "bigint") return value;
  throw badRequest("the protobuf body has bytes where a number belongs");
}

const utf8 = new TextDecoder("utf-8");

function textOf(value: bigint | Uint8Array): string {
  return utf8.decode(bytesOf(value));
}
