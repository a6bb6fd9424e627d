import type { JSONSchemaProps } from "@capstan/apimachinery";

/**
 * A schema from which the TypeScript type (`Infer`), the CRD's OpenAPI schema (`.json`) and the API reference are derived.
 * `T` exists only at compile time.
 */
export interface Schema<T = unknown> {
  readonly json: JSONSchemaProps;
  readonly optional: boolean;
  /** Never set: carries the type. */
  readonly __type?: T;
}

/** The TypeScript type a schema describes. */
export type Infer<S> = S extends Schema<infer T> ? T : never;

/** Schema of a field that may be absent. */
export interface OptionalSchema<T> extends Schema<T> {
  readonly optional: true;
}

type Fields = Record<string, Schema>;
type OptionalKeys<F extends Fields> = { [K in keyof F]: F[K] extends OptionalSchema<unknown> ? K : never }[keyof F];
type ObjectOf<F extends Fields> = { [K in Exclude<keyof F, OptionalKeys<F>>]: Infer<F[K]> } & {
  [K in OptionalKeys<F>]?: Infer<F[K]>;
};
/** Flattens intersections so that editors show plain objects. */
type Plain<T> = { [K in keyof T]: T[K] };
/** A schema while it is being put together. */
type Draft = { -readonly [K in keyof JSONSchemaProps]: JSONSchemaProps[K] };

/** A CEL validation rule of a value (x-kubernetes-validations). */
export interface Rule {
  rule: string;
  message: string;
  fieldPath?: string;
  reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
}

interface Common<T> {
  /** One sentence that is shown by `kubectl explain` and in the reference. */
  doc?: string;
  default?: T;
  rules?: Rule[];
}

interface StringOptions<E extends string> extends Common<E> {
  enum?: readonly E[];
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

interface NumberOptions extends Common<number> {
  minimum?: number;
  maximum?: number;
  format?: "int32" | "int64";
}

interface ArrayOptions<T> extends Common<T[]> {
  minItems?: number;
  maxItems?: number;
  /** Atomic by default, as in Kubernetes. */
  listType?: "atomic" | "set" | "map";
  keys?: string[];
}

interface ObjectOptions<T> extends Common<T> {
  minProperties?: number;
  maxProperties?: number;
  mapType?: "atomic" | "granular";
}

function common(options: Common<unknown>): JSONSchemaProps {
  const json: Draft = {};
  if (options.doc !== undefined) json.description = options.doc;
  if (options.default !== undefined) json.default = options.default;
  if (options.rules !== undefined) json["x-kubernetes-validations"] = options.rules.map((r) => ({ ...r }));
  return json;
}

function make<T>(json: JSONSchemaProps): Schema<T> {
  return { json, optional: false };
}

/** Copies the named options that are set. */
function pick(options: object, names: readonly string[]): JSONSchemaProps {
  const from = options as Record<string, unknown>;
  return Object.fromEntries(names.filter((n) => from[n] !== undefined).map((n) => [n, from[n]])) as JSONSchemaProps;
}

/** Returns the schema of a string; with `enum`, of one of its values. */
export function string<const E extends string = string>(options: StringOptions<E> = {}): Schema<E> {
  const enumeration = options.enum === undefined ? {} : { enum: [...options.enum] };
  return make({
    type: "string",
    ...common(options),
    ...pick(options, ["minLength", "maxLength", "pattern", "format"]),
    ...enumeration,
  });
}

/** Returns the schema of an integer, int32 unless `format` says otherwise. */
export function integer(options: NumberOptions = {}): Schema<number> {
  return make({
    type: "integer",
    format: "int32",
    ...common(options),
    ...pick(options, ["minimum", "maximum", "format"]),
  });
}

/** Returns the schema of a boolean. */
export function boolean(options: Common<boolean> = {}): Schema<boolean> {
  return make({ type: "boolean", ...common(options) });
}

/** Returns the schema of Kubernetes' IntOrString: a number, or a string such as a percentage. */
export function intOrString(options: Common<number | string> = {}): Schema<number | string> {
  return make({
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true,
    ...common(options),
  });
}

/** Returns the schema of a Kubernetes quantity such as 500m or 2Gi. */
export function quantity(options: Common<number | string> = {}): Schema<number | string> {
  const number = String.raw`(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))`;
  const pattern = String.raw`^(\+|-)?${number}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?${number}))?$`;
  return make({ ...intOrString(options).json, pattern });
}

/** Returns the schema of an RFC 3339 time. */
export function time(options: Common<string> = {}): Schema<string> {
  return make({ type: "string", format: "date-time", ...common(options) });
}

/** Returns the schema of any JSON value; unknown fields are preserved. */
export function anything(options: Common<unknown> = {}): Schema<unknown> {
  return make({ "x-kubernetes-preserve-unknown-fields": true, ...common(options) });
}

/** Returns the schema of an object with any fields; unknown fields are preserved. */
export function openObject(options: Common<Record<string, unknown>> = {}): Schema<Record<string, unknown>> {
  return make({ type: "object", "x-kubernetes-preserve-unknown-fields": true, ...common(options) });
}

/** Returns the schema of a list; `listType` and `keys` control how server-side apply merges it. */
export function array<T>(item: Schema<T>, options: ArrayOptions<T> = {}): Schema<T[]> {
  const list: Draft = {};
  if (options.listType !== undefined) list["x-kubernetes-list-type"] = options.listType;
  if (options.keys !== undefined) list["x-kubernetes-list-map-keys"] = options.keys;
  return make({
    type: "array",
    items: item.json,
    ...common(options),
    ...pick(options, ["minItems", "maxItems"]),
    ...list,
  });
}

/** Returns the schema of a map from strings to values of one schema. */
export function map<T>(value: Schema<T>, options: ObjectOptions<Record<string, T>> = {}): Schema<Record<string, T>> {
  return make({
    type: "object",
    additionalProperties: value.json,
    ...common(options),
    ...pick(options, ["minProperties", "maxProperties"]),
    ...(options.mapType === undefined ? {} : { "x-kubernetes-map-type": options.mapType }),
  });
}

/** Returns the schema of an object with the given fields; those not marked `optional` are required. */
export function object<F extends Fields>(
  fields: F,
  options: ObjectOptions<Plain<ObjectOf<F>>> = {},
): Schema<Plain<ObjectOf<F>>> {
  const required = Object.keys(fields).filter((name) => fields[name]?.optional === false);
  const json: Draft = {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.json])),
    ...common(options),
    ...pick(options, ["minProperties", "maxProperties"]),
    ...(options.mapType === undefined ? {} : { "x-kubernetes-map-type": options.mapType }),
  };
  if (required.length > 0) json.required = required;
  return make(json);
}

/** Marks a field of an object as optional. */
export function optional<T>(schema: Schema<T>): OptionalSchema<T> {
  return { json: schema.json, optional: true };
}

/** Returns the schema with another description. */
export function documented<S extends Schema>(schema: S, doc: string): S {
  return { ...schema, json: { ...schema.json, description: doc } };
}
