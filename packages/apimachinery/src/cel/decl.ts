import { deepEqual, isObject } from "../json.ts";
import { parseFormatDurationNs } from "../schema/format-duration.ts";
import { isDate } from "../schema/formats.ts";
import { nodeOf, type SchemaNode } from "../schema/node.ts";
import type { JSONSchemaProps } from "../schema/types.ts";
import { escapeName } from "./escape.ts";
import { parseTimestamp } from "./time.ts";
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, DYN, INT, listOf, mapOf, STRING, TIMESTAMP } from "./types.ts";
import { CelDuration, CelError, CelHandle, CelTimestamp, ListValue, MapValue, type Value } from "./values.ts";

const MAX_REQUEST = 3 * 1024 * 1024;

/** How a schema looks to expressions: its CEL type, its size limits for cost estimates, and how values are converted. */
export interface DeclType {
  readonly node: SchemaNode;
  readonly type: CelType;
  /** Declared fields by escaped name; absent for maps, lists and scalars. */
  readonly fields?: ReadonlyMap<string, { readonly name: string; readonly decl: DeclType }>;
  readonly byName?: ReadonlyMap<string, DeclType>;
  readonly elem?: DeclType;
  readonly maxElements: number;
  readonly minSize: number;
  /** Whether equality of the JSON values is equality in CEL: no sets, map lists, times or bytes inside. */
  readonly plain: boolean;
  convert(raw: unknown): Value;
}

const cache = new WeakMap<SchemaNode, Map<boolean, DeclType | undefined>>();

/** The declaration of a schema; undefined when expressions cannot see it. `root` adds kind, apiVersion and metadata names. */
export function declOf(node: SchemaNode, root: boolean): DeclType | undefined {
  let both = cache.get(node);
  if (both === undefined) {
    both = new Map();
    cache.set(node, both);
  }
  if (!both.has(root)) both.set(root, build(node, root));
  return both.get(root);
}

function build(node: SchemaNode, root: boolean): DeclType | undefined {
  const schema = node.schema;
  if (schema["x-kubernetes-int-or-string"] === true) {
    const maxElements = schema.maxLength === undefined ? MAX_REQUEST - 2 : Math.max(schema.maxLength, 0) * 4;
    return scalar(node, DYN, maxElements, 1, true, (raw) => {
      if (typeof raw === "string") return raw;
      if (typeof raw === "number" && Number.isInteger(raw)) return BigInt(raw);
      throw new CelError("invalid data, expected XIntOrString value to be either a string or integer");
    });
  }
  switch (schema.type ?? "") {
    case "array":
      return buildList(node);
    case "object":
      return buildObject(node, root);
    case "string":
      return buildString(node);
    case "boolean":
      return scalar(node, BOOL, 0, 4, true, (raw) => expectType(raw, typeof raw === "boolean", "bool"));
    case "number":
      return scalar(node, DOUBLE, 0, 1, true, (raw) => expectType(raw, typeof raw === "number", "float"));
    case "integer":
      return scalar(node, INT, 0, 1, true, (raw) => {
        if (typeof raw === "number" && Number.isInteger(raw)) return BigInt(raw);
        throw new CelError(`invalid data, expected int, got ${typeof raw}`);
      });
    default:
      return undefined;
  }
}

function expectType(raw: unknown, ok: boolean, name: string): Value {
  if (!ok) throw new CelError(`invalid data, expected ${name}, got ${typeof raw}`);
  return raw as Value;
}

function nullable(node: SchemaNode, convert: (raw: unknown) => Value): (raw: unknown) => Value {
  return (raw) => {
    if (raw !== null && raw !== undefined) return convert(raw);
    if (node.nullable) return null;
    throw new CelError("invalid data, got null for schema with nullable=false");
  };
}

function scalar(
  node: SchemaNode,
  type: CelType,
  maxElements: number,
  minSize: number,
  plain: boolean,
  convert: (raw: unknown) => Value,
): DeclType {
  return { node, type, maxElements, minSize, plain, convert: nullable(node, convert) };
}

function buildString(node: SchemaNode): DeclType {
  const { format, maxLength } = node.schema;
  const text = (raw: unknown): string => {
    if (typeof raw !== "string") throw new CelError(`invalid data, expected string, got ${typeof raw}`);
    return raw;
  };
  const longest = MAX_REQUEST - 2;
  switch (format ?? "") {
    case "byte":
      return scalar(node, BYTES, maxLength === undefined ? longest : Math.max(maxLength, 0), 2, false, (raw) =>
        Uint8Array.from(Buffer.from(text(raw), "base64")),
      );
    case "duration":
      return scalar(node, DURATION, 32, 3, false, (raw) => {
        const ns = parseFormatDurationNs(text(raw));
        if (ns === undefined) throw new CelError(`Invalid duration ${text(raw)}`);
        return new CelDuration(ns);
      });
    case "date":
      return scalar(node, TIMESTAMP, 12, 12, false, (raw) => {
        const ns = isDate(text(raw)) ? parseTimestamp(`${text(raw)}T00:00:00Z`) : undefined;
        if (ns === undefined) throw new CelError(`Invalid date formatted string ${text(raw)}`);
        return new CelTimestamp(ns);
      });
    case "date-time":
      return scalar(node, TIMESTAMP, 32, 21, false, (raw) => {
        const ns = parseTimestamp(text(raw)) ?? parseTimestamp(`${text(raw)}Z`);
        if (ns === undefined) throw new CelError(`Invalid date-time formatted string ${text(raw)}`);
        return new CelTimestamp(ns);
      });
    default:
      return scalar(node, STRING, stringLimit(node.schema, longest), 2, true, text);
  }
}

function stringLimit(schema: JSONSchemaProps, longest: number): number {
  if (schema.maxLength !== undefined) return Math.max(schema.maxLength, 0) * 4;
  if (schema.enum === undefined || schema.enum.length === 0) return longest;
  return Math.max(0, ...schema.enum.map((v) => (typeof v === "string" ? Buffer.byteLength(v) : 0)));
}

function buildList(node: SchemaNode): DeclType | undefined {
  const items = node.items;
  const elem = items === undefined ? undefined : declOf(items, items.embedded);
  if (elem === undefined) return undefined;
  const limit = node.schema.maxItems;
  const decl: DeclType = {
    node,
    type: listOf(elem.type),
    elem,
    maxElements: limit === undefined ? Math.floor((MAX_REQUEST - 2) / (elem.minSize + 1)) : Math.max(limit, 0),
    minSize: 2,
    plain: elem.plain && node.listType !== "set" && node.listType !== "map",
    convert: nullable(node, (raw) => {
      if (!Array.isArray(raw))
        throw new CelError("invalid data, expected an array for the provided schema with type=array");
      return new RawList(raw, decl);
    }),
  };
  return decl;
}

const STRING_SCHEMA: JSONSchemaProps = { type: "string" };
const META_SCHEMA: JSONSchemaProps = {
  type: "object",
  properties: { name: STRING_SCHEMA, generateName: STRING_SCHEMA },
};

function buildObject(node: SchemaNode, root: boolean): DeclType | undefined {
  const additional = node.schema.additionalProperties;
  if (typeof additional === "object") return buildMap(node);
  const byName = new Map<string, DeclType>();
  const fields = new Map<string, { name: string; decl: DeclType }>();
  const required = new Set(node.required);
  let minSize = 2;
  const properties = new Map(node.properties);
  if (root) {
    properties.set("kind", nodeOf(STRING_SCHEMA));
    properties.set("apiVersion", nodeOf(STRING_SCHEMA));
    properties.set("metadata", nodeOf(META_SCHEMA));
  }
  let plain = !root;
  for (const [name, child] of properties) {
    const decl = declOf(child, child.embedded);
    if (decl === undefined) continue;
    byName.set(name, decl);
    plain &&= decl.plain;
    const escaped = escapeName(name);
    if (escaped !== undefined) fields.set(escaped, { name, decl });
    if (required.has(name) && child.defaultValue === undefined) minSize += Buffer.byteLength(name) + decl.minSize + 4;
  }
  const types = new Map([...fields].map(([name, field]) => [name, field.decl.type]));
  const decl: DeclType = {
    node,
    type: { kind: "object", params: [], name: "selfType", fields: types },
    fields,
    byName,
    maxElements: 0,
    minSize,
    plain,
    convert: nullable(node, (raw) => {
      if (!isObject(raw)) throw new CelError("invalid data, expected a map for the provided schema with type=object");
      return new RawObject(raw, decl);
    }),
  };
  return decl;
}

function buildMap(node: SchemaNode): DeclType | undefined {
  const values = node.additional;
  const elem = values === undefined ? undefined : declOf(values, values.embedded);
  if (elem === undefined) return undefined;
  const limit = node.schema.maxProperties;
  const decl: DeclType = {
    node,
    type: mapOf(STRING, elem.type),
    elem,
    maxElements: limit === undefined ? Math.floor((MAX_REQUEST - 2) / (elem.minSize + 6)) : Math.max(limit, 0),
    minSize: 2,
    plain: elem.plain,
    convert: nullable(node, (raw) => {
      if (!isObject(raw)) throw new CelError("invalid data, expected a map for the provided schema with type=object");
      return new RawMap(raw, decl);
    }),
  };
  return decl;
}

/** A list of the object under validation; items are converted on access. */
export class RawList extends ListValue {
  readonly raw: readonly unknown[];
  readonly decl: DeclType;
  constructor(raw: readonly unknown[], decl: DeclType) {
    super();
    this.raw = raw;
    this.decl = decl;
  }
  get size(): number {
    return this.raw.length;
  }
  at(index: number): Value {
    return (this.decl.elem ?? dynDecl).convert(this.raw[index]);
  }
  override get listType(): "atomic" | "set" | "map" {
    const type = this.decl.node.listType;
    return type === "set" || type === "map" ? type : "atomic";
  }
  override get mapKeys(): readonly string[] {
    return this.decl.node.mapKeys;
  }
}

/** A map of the object under validation. */
export class RawMap extends MapValue {
  readonly raw: Record<string, unknown>;
  readonly decl: DeclType;
  constructor(raw: Record<string, unknown>, decl: DeclType) {
    super();
    this.raw = raw;
    this.decl = decl;
  }
  get size(): number {
    return Object.keys(this.raw).length;
  }
  get(key: Value): Value | undefined {
    return this.has(key) ? (this.decl.elem ?? dynDecl).convert(this.raw[key as string]) : undefined;
  }
  has(key: Value): boolean {
    return typeof key === "string" && Object.hasOwn(this.raw, key) && this.raw[key] !== undefined;
  }
  keys(): readonly Value[] {
    return Object.keys(this.raw);
  }
}

/** An object with declared fields. */
export class RawObject extends MapValue {
  readonly raw: Record<string, unknown>;
  readonly decl: DeclType;
  constructor(raw: Record<string, unknown>, decl: DeclType) {
    super();
    this.raw = raw;
    this.decl = decl;
  }
  get size(): number {
    return Object.keys(this.raw).length;
  }
  get(key: Value): Value | undefined {
    return typeof key === "string" ? this.field(key) : undefined;
  }
  has(key: Value): boolean {
    return typeof key === "string" && this.hasField(key);
  }
  keys(): readonly Value[] {
    return Object.keys(this.raw).map((name) => escapeName(name) ?? name);
  }
  override field(name: string): Value | undefined {
    const field = this.decl.fields?.get(name);
    if (field === undefined || !Object.hasOwn(this.raw, field.name)) return undefined;
    const raw = this.raw[field.name];
    // A null field counts as absent, as upstream has it.
    return raw === undefined || raw === null ? undefined : field.decl.convert(raw);
  }
  override hasField(name: string): boolean {
    const field = this.decl.fields?.get(name);
    return (
      field !== undefined && Object.hasOwn(this.raw, field.name) && (this.raw[field.name] ?? undefined) !== undefined
    );
  }
}

/** Converts JSON without a schema: whole numbers are ints. */
export function convertDyn(raw: unknown): Value {
  if (raw === null || raw === undefined) return null;
  if (typeof raw === "number") return Number.isInteger(raw) ? BigInt(raw) : raw;
  if (typeof raw === "string" || typeof raw === "boolean") return raw;
  if (Array.isArray(raw)) return new RawList(raw, dynDecl);
  if (raw instanceof CelHandle) return raw;
  return isObject(raw) ? new RawMap(raw, dynDecl) : null;
}

/** The declaration of values of unknown type. */
export const dynDecl: DeclType = {
  node: nodeOf({}),
  type: DYN,
  maxElements: MAX_REQUEST,
  minSize: 1,
  plain: true,
  convert: convertDyn,
};

/** Equality of two objects under validation: declared fields by their types, undeclared ones as JSON. */
export function rawObjectsEqual(a: RawObject, b: RawObject, same: (x: Value, y: Value) => boolean): boolean {
  if (a.raw === b.raw) return true;
  if (a.decl === b.decl && a.decl.plain) return deepEqual(a.raw, b.raw);
  const names = Object.keys(a.raw);
  if (names.length !== Object.keys(b.raw).length) return false;
  return names.every((name) => {
    if (!Object.hasOwn(b.raw, name)) return false;
    const left = a.decl.byName?.get(name);
    const right = b.decl.byName?.get(name);
    if (left === undefined || right === undefined) return deepEqual(a.raw[name], b.raw[name]);
    return same(left.convert(a.raw[name]), right.convert(b.raw[name]));
  });
}
