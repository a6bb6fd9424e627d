import { badRequest, isObject, type JSONSchemaProps, trimEndOf } from "@capstan/apimachinery";
import { cannotUnmarshal, type DecodeContext } from "./decode-metadata.ts";

type Decoder = (value: unknown, path: string, context: DecodeContext) => unknown;

const compiled = new WeakMap<JSONSchemaProps, Decoder>();

/**
 * Decodes a built-in object by its recorded schema as Go's typed decoder does: unknown fields dropped and noted, null taken as absent,
 * empty lists and maps left out, wrong types refused with 400. Works in place; `metadata` is not touched.
 */
export function decodeBuiltin(schema: JSONSchemaProps, object: Record<string, unknown>, context: DecodeContext): void {
  const properties = schema.properties ?? {};
  for (const key of Object.keys(object)) {
    if (key === "apiVersion" || key === "kind" || key === "metadata") continue;
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) {
      context.unknown.push(key);
      delete object[key];
      continue;
    }
    decodeField(object, key, decoderFor(property), key, schema.required?.includes(key) ?? false, context);
  }
}

function decodeField(
  object: Record<string, unknown>,
  key: string,
  decoder: Decoder,
  path: string,
  required: boolean,
  context: DecodeContext,
): void {
  const value = object[key];
  if (value === null || value === undefined) {
    delete object[key];
    return;
  }
  const decoded = decoder(value, path, context);
  if (decoded === undefined || (!required && isEmptyCollection(decoded, decoder))) delete object[key];
  else if (decoded !== value) object[key] = decoded;
}

/** Decoders of slices and maps; free-form JSON and structs are not among them. */
const COLLECTIONS = new WeakSet<Decoder>();

/** Go's omitempty: empty slices and maps are not written back, empty structs are. */
function isEmptyCollection(value: unknown, decoder: Decoder): boolean {
  if (!COLLECTIONS.has(decoder)) return false;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function decoderFor(schema: JSONSchemaProps): Decoder {
  let decoder = compiled.get(schema);
  if (decoder === undefined) {
    // Recursive types (JSONSchemaProps) reach themselves while being compiled.
    let real: Decoder | undefined;
    decoder = (value, path, context) => (real ??= compile(schema))(value, path, context);
    const map = schema.additionalProperties !== undefined && schema.properties === undefined;
    if (map || schema.type === "array") COLLECTIONS.add(decoder);
    compiled.set(schema, decoder);
  }
  return decoder;
}

function compile(schema: JSONSchemaProps): Decoder {
  if (schema["x-kubernetes-int-or-string"] === true || schema.format === "int-or-string") return intOrString;
  switch (schema.type ?? "") {
    case "string":
      return STRINGS[schema.format ?? ""] ?? text;
    case "integer":
      return integer(schema.format === "int64" ? "int64" : "int32");
    case "number":
      return float;
    case "boolean":
      return bool;
    case "array":
      return list(schema);
    case "object":
      return schema.properties === undefined ? map(schema) : struct(schema);
    default:
      // References stay unresolved only for free-form JSON; objects with declared fields are structs.
      return schema.properties === undefined ? (value) => value : struct(schema);
  }
}

const text: Decoder = (value, path, context) => {
  if (typeof value !== "string") throw cannotUnmarshal(value, path, "string", context);
  return value;
};

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const time: Decoder = (value, path, context) => {
  if (typeof value !== "string") throw cannotUnmarshal(value, path, "time.Time", context);
  if (RFC3339.test(value) && !Number.isNaN(Date.parse(value))) return value;
  const at = /^\d{4}/.test(value) ? "" : `: cannot parse ${JSON.stringify(value)} as "2006"`;
  throw badRequest(
    `${context.kind} in version "${context.version}" cannot be handled as a ${context.kind}: parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00"${at}`,
  );
};

const MICRO = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d{6})?(.*)$/;

const microTime: Decoder = (value, path, context) => {
  if (typeof value !== "string") throw cannotUnmarshal(value, path, "time.Time", context);
  if (RFC3339.test(value) && /\.\d{6}(?:Z|[+-])/.test(value) && !Number.isNaN(Date.parse(value))) return value;
  const [, , rest = ""] = MICRO.exec(value) ?? [];
  const at = /^\d{4}/.test(value)
    ? rest === ""
      ? ""
      : `: cannot parse ${JSON.stringify(rest)} as ".000000"`
    : `: cannot parse ${JSON.stringify(value)} as "2006"`;
  throw badRequest(
    `${context.kind} in version "${context.version}" cannot be handled as a ${context.kind}: parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00"${at}`,
  );
};

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytes: Decoder = (value, path, context) => {
  if (typeof value !== "string") throw cannotUnmarshal(value, path, "[]uint8", context);
  const clean = value.includes("\n") || value.includes("\r") ? value.replace(/[\r\n]/g, "") : value;
  if (!BASE64.test(clean)) {
    throw badRequest(
      `${context.kind} in version "${context.version}" cannot be handled as a ${context.kind}: illegal base64 data at input byte ${firstIllegalByte(clean)}`,
    );
  }
  return clean;
};

function firstIllegalByte(value: string): number {
  const at = value.search(/[^A-Za-z0-9+/=]/);
  return at >= 0 ? at : Math.floor(trimEndOf(value, "=").length / 4) * 4;
}

/** Texts of a special form by their format. */
const STRINGS: Readonly<Record<string, Decoder>> = { byte: bytes, "date-time": time, "micro-time": microTime };

const bool: Decoder = (value, path, context) => {
  if (typeof value !== "boolean") throw cannotUnmarshal(value, path, "bool", context);
  return value;
};

const float: Decoder = (value, path, context) => {
  if (typeof value !== "number") throw cannotUnmarshal(value, path, "float64", context);
  return value;
};

const intOrString: Decoder = (value, path, context) => {
  if (typeof value !== "string" && !(typeof value === "number" && Number.isInteger(value))) {
    throw cannotUnmarshal(value, path, "int32", context);
  }
  return value;
};

function integer(goType: string): Decoder {
  return (value, path, context) => {
    if (typeof value !== "number" || !Number.isInteger(value)) throw cannotUnmarshal(value, path, goType, context);
    if (goType === "int32" && (value > 0x7fffffff || value < -0x80000000))
      throw cannotUnmarshal(value, path, goType, context);
    return value;
  };
}

/** The Go type a schema was made from, as far as it shows. */
function goTypeOf(schema: JSONSchemaProps): string {
  switch (schema.type ?? "") {
    case "string":
      return schema.format === "byte" ? "[]uint8" : "string";
    case "integer":
      return schema.format === "int64" ? "int64" : "int32";
    case "boolean":
      return "bool";
    case "number":
      return "float64";
    case "array":
      return `[]${schema.items === undefined ? "interface {}" : goTypeOf(schema.items)}`;
    default:
      return isObject(schema.additionalProperties) ? `map[string]${goTypeOf(schema.additionalProperties)}` : "struct";
  }
}

function list(schema: JSONSchemaProps): Decoder {
  const item = schema.items === undefined ? undefined : decoderFor(schema.items);
  const goType = goTypeOf(schema);
  return (value, path, context) => {
    if (!Array.isArray(value)) throw cannotUnmarshal(value, path, goType, context);
    if (item === undefined) return value;
    for (let i = 0; i < value.length; i++) {
      const entry: unknown = value[i];
      value[i] = entry === null ? null : item(entry, `${path}[${i}]`, context);
    }
    return value;
  };
}

function map(schema: JSONSchemaProps): Decoder {
  const item = isObject(schema.additionalProperties) ? decoderFor(schema.additionalProperties) : undefined;
  const goType = goTypeOf(schema);
  const textual = item !== undefined && (schema.additionalProperties as JSONSchemaProps).type === "string";
  return (value, path, context) => {
    if (!isObject(value)) throw cannotUnmarshal(value, path, goType, context);
    if (item === undefined) return value;
    for (const key of Object.keys(value)) {
      const entry = value[key];
      value[key] = entry === null ? (textual ? "" : null) : item(entry, textual ? path : `${path}.${key}`, context);
    }
    return value;
  };
}

function struct(schema: JSONSchemaProps): Decoder {
  const properties = new Map<string, { decoder: Decoder; required: boolean }>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    properties.set(name, { decoder: decoderFor(property), required: schema.required?.includes(name) ?? false });
  }
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true;
  return (value, path, context) => {
    if (!isObject(value)) throw cannotUnmarshal(value, path, "struct", context);
    for (const key of Object.keys(value)) {
      const property = properties.get(key);
      if (property !== undefined) {
        decodeField(value, key, property.decoder, `${path}.${key}`, property.required, context);
      } else if (!open) {
        context.unknown.push(`${path}.${key}`);
        delete value[key];
      }
    }
    return value;
  };
}
