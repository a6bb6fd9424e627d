import { badRequest, unsupportedMediaType } from "../errors.ts";
import { goQuote } from "../go-text.ts";
import { isObject, type JsonObject, setOwn } from "../json.ts";
import type { Unstructured } from "../object.ts";
import { type FieldDescriptor, findKind, findMessage, type MessageDescriptor } from "./messages.ts";
import { decodeFieldsV1, decodeIntOrString, decodeJson, decodeTexts, decodeTime } from "./special.ts";
import { WireReader } from "./wire.ts";

const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const MAX_NESTING = 64;

/**
 * Decodes a body of type application/vnd.kubernetes.protobuf into the object its JSON form would be. Throws BadRequest for
 * broken bytes and UnsupportedMediaType for kinds without tables.
 */
export function decodeKubernetesProtobuf(bytes: Uint8Array): Unstructured {
  if (!hasMagic(bytes)) {
    throw badRequest("provided data does not appear to be a protobuf message, expected prefix 6b387300");
  }
  const { apiVersion, kind, raw } = readEnvelope(bytes);
  const message = findKind(apiVersion, kind);
  if (message === undefined) {
    throw unsupportedMediaType(
      `no protobuf tables for ${goQuote(kind)} in ${goQuote(apiVersion)}: send it as application/json`,
    );
  }
  const object: JsonObject = {};
  decodeMessage(object, raw, message, 0);
  const metadata = object["metadata"];
  return { apiVersion, kind, ...object, ...(isOptions(kind) ? {} : { metadata: metadata ?? {} }) } as Unstructured;
}

/** What a body says it is, whether there are tables for it or not; undefined when it is no protobuf message of Kubernetes. */
export function protobufType(bytes: Uint8Array): { apiVersion: string; kind: string } | undefined {
  if (!hasMagic(bytes)) return undefined;
  const { apiVersion, kind } = readEnvelope(bytes);
  return { apiVersion, kind };
}

function hasMagic(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

function readEnvelope(bytes: Uint8Array): { apiVersion: string; kind: string; raw: WireReader } {
  let apiVersion = "";
  let kind = "";
  let raw = new WireReader(new Uint8Array());
  const envelope = new WireReader(bytes, MAGIC.length);
  while (envelope.next()) {
    if (envelope.number === 2) raw = envelope.message();
    if (envelope.number !== 1) continue;
    const type = envelope.message();
    while (type.next()) {
      if (type.number === 1) apiVersion = type.text();
      if (type.number === 2) kind = type.text();
    }
  }
  return { apiVersion, kind, raw };
}

function isOptions(kind: string): boolean {
  return kind.endsWith("Options");
}

function decodeMessage(out: JsonObject, reader: WireReader, message: MessageDescriptor, depth: number): void {
  if (depth > MAX_NESTING) throw badRequest("the protobuf body is nested too deeply");
  while (reader.next()) {
    const field = message.get(reader.number);
    if (field === undefined) continue;
    if (field.kind === "map") decodeEntry(out, field, reader.message(), depth);
    else if (field.kind === "repeated") {
      const list = out[field.name];
      const item = decodeValue(field, reader, depth);
      if (Array.isArray(list)) list.push(item);
      else out[field.name] = [item];
    } else if (field.name === "") {
      decodeMessage(out, reader.message(), messageOf(field), depth + 1);
    } else {
      const decoded = decodeValue(field, reader, depth);
      if (decoded !== undefined && (field.kept || !isZero(decoded))) out[field.name] = decoded;
    }
  }
}

function decodeEntry(out: JsonObject, field: FieldDescriptor, entry: WireReader, depth: number): void {
  let key = "";
  let item: unknown;
  while (entry.next()) {
    if (entry.number === 1) key = entry.text();
    if (entry.number === 2) item = decodeValue(field, entry, depth);
  }
  const existing = out[field.name];
  const map: JsonObject = isObject(existing) ? existing : {};
  setOwn(map, key, item ?? emptyItem(field.type));
  out[field.name] = map;
}

function emptyItem(type: string): unknown {
  if (type === "string" || type === "bytes") return "";
  if (type === "Quantity") return "0";
  return type === "ExtraValue" || type === "AttestationValue" ? [] : {};
}

function decodeValue(field: FieldDescriptor, reader: WireReader, depth: number): unknown {
  switch (field.type) {
    case "string":
      return reader.text();
    case "bytes":
      return Buffer.from(reader.bytes()).toString("base64");
    case "int":
      return reader.integer();
    case "bool":
      return reader.integer() !== 0;
    case "double":
      return reader.double();
    case "Time":
      return decodeTime(reader.message(), false);
    case "MicroTime":
      return decodeTime(reader.message(), true);
    case "FieldsV1":
      return decodeFieldsV1(reader.message());
    case "Quantity":
      return decodeTexts(reader.message())[0] ?? "0";
    case "IntOrString":
      return decodeIntOrString(reader.message());
    case "ExtraValue":
    case "AttestationValue":
      return decodeTexts(reader.message());
    case "JSON":
      return decodeJson(reader.message());
    case "JSONSchemaPropsOrArray":
    case "JSONSchemaPropsOrBool":
    case "JSONSchemaPropsOrStringArray":
      return decodeSchemaOr(field, reader.message(), depth);
    default: {
      const out: JsonObject = {};
      decodeMessage(out, reader.message(), messageOf(field), depth + 1);
      return out;
    }
  }
}

function messageOf(field: FieldDescriptor): MessageDescriptor {
  const message = findMessage(field.table, field.type);
  if (message === undefined) throw badRequest(`no protobuf table for message ${field.type}`);
  return message;
}

/** `items`, `additionalProperties` and `dependencies` of a CRD's schema: a schema, or what JSON Schema allows in its place. */
function decodeSchemaOr(field: FieldDescriptor, reader: WireReader, depth: number): unknown {
  const schema: FieldDescriptor = { ...field, type: "JSONSchemaProps" };
  let found: unknown;
  let allows = false;
  const several: unknown[] = [];
  const isBool = field.type === "JSONSchemaPropsOrBool";
  while (reader.next()) {
    if (isBool && reader.number === 1) allows = reader.integer() !== 0;
    else if (reader.number === (isBool ? 2 : 1)) found = decodeValue(schema, reader, depth);
    else if (!isBool && reader.number === 2)
      several.push(field.type === "JSONSchemaPropsOrArray" ? decodeValue(schema, reader, depth) : reader.text());
  }
  return found ?? (isBool ? allows : several);
}

function isZero(value: unknown): boolean {
  if (value === "" || value === 0 || value === false) return true;
  return isObject(value) && Object.keys(value).length === 0;
}
