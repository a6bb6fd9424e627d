import type { JsonObject } from "../json.ts";
import type { JSONSchemaProps } from "../schema/types.ts";
import { OBJECT_META_SCHEMA } from "./object-meta-schema.ts";

/** How the items of a list are identified. */
export interface ListType {
  /** The list is one value. */
  readonly atomic: boolean;
  /** Key fields of a map list; undefined for a set. */
  readonly keys: readonly string[] | undefined;
  readonly item: ApplyType;
  /** The default of a key field that an item leaves out. */
  keyDefault(key: string): unknown;
  /** Path elements made before, by the item's only key: names repeat from object to object. */
  readonly interned: Map<string, string>;
}

/** How the fields of an object are owned. */
export interface MapType {
  /** The object is one value. */
  readonly atomic: boolean;
  /** The type of a field the schema names. */
  field(name: string): ApplyType | undefined;
  /** The type of other fields; undefined when there must be none. */
  readonly element: ApplyType | undefined;
}

/** What a value may be: a scalar, a list, an object, or, where the schema leaves it open, whatever it is. */
export interface ApplyType {
  readonly scalar: ScalarType | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
}

/** Strings are not distinguished from other scalars: quantities and int-or-string are published as strings too. */
export type ScalarType = "any" | "numeric" | "boolean";

const NO_DEFAULT = (): undefined => undefined;
const NO_FIELD = (): undefined => undefined;

/** A list or object without a schema, as one value. */
const UNTYPED: ApplyType = {
  scalar: "any",
  get list(): ListType {
    return { atomic: true, keys: undefined, item: UNTYPED, keyDefault: NO_DEFAULT, interned: new Map() };
  },
  get map(): MapType {
    return { atomic: true, field: NO_FIELD, element: UNTYPED };
  },
};

/** A free-form value: objects field by field, lists as one value. */
export const DEDUCED: ApplyType = {
  scalar: "any",
  list: { atomic: true, keys: undefined, item: UNTYPED, keyDefault: NO_DEFAULT, interned: new Map() },
  map: {
    atomic: false,
    field: NO_FIELD,
    get element(): ApplyType {
      return DEDUCED;
    },
  },
};

/** The type of a schema; parts are worked out when they are first needed, because schemas are large and mostly unused. */
export function applyType(schema: JSONSchemaProps, preserve: boolean): ApplyType {
  return new SchemaType(schema, preserve || schema["x-kubernetes-preserve-unknown-fields"] === true);
}

class SchemaType implements ApplyType {
  readonly scalar: ScalarType | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;

  constructor(schema: JSONSchemaProps, preserve: boolean) {
    const { type } = schema;
    const any = type === undefined || type === "";
    this.scalar = scalarType(type);
    this.list = any || type === "array" ? new SchemaList(schema, preserve) : undefined;
    this.map = any || type === "object" ? new SchemaMap(schema, preserve) : undefined;
  }
}

function scalarType(type: string | undefined): ScalarType | undefined {
  if (type === "object" || type === "array") return undefined;
  if (type === "integer" || type === "number") return "numeric";
  return type === "boolean" ? "boolean" : "any";
}

class SchemaList implements ListType {
  readonly atomic: boolean;
  readonly keys: readonly string[] | undefined;
  readonly interned = new Map<string, string>();
  readonly #schema: JSONSchemaProps;
  readonly #preserve: boolean;
  #compiled: ApplyType | undefined;

  constructor(schema: JSONSchemaProps, preserve: boolean) {
    const { atomic, keys } = listRelationship(schema);
    this.atomic = atomic;
    this.keys = keys;
    this.#schema = schema;
    this.#preserve = preserve;
  }

  get item(): ApplyType {
    this.#compiled ??= this.#schema.items === undefined ? UNTYPED : applyType(this.#schema.items, this.#preserve);
    return this.#compiled;
  }

  keyDefault(key: string): unknown {
    const fields = this.#schema.items?.properties;
    return fields !== undefined && Object.hasOwn(fields, key) ? fields[key]?.default : undefined;
  }
}

/** `x-kubernetes-list-type` decides; built-in types that lack it follow their strategic merge patch extension. */
function listRelationship(schema: JSONSchemaProps): { atomic: boolean; keys: readonly string[] | undefined } {
  const listType = schema["x-kubernetes-list-type"];
  if (listType !== undefined) {
    return {
      atomic: listType === "atomic",
      keys: listType === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : undefined,
    };
  }
  const strategy = schema["x-kubernetes-patch-strategy"];
  if (strategy === undefined || !strategy.split(",").includes("merge")) return { atomic: true, keys: undefined };
  const key = schema["x-kubernetes-patch-merge-key"];
  return { atomic: false, keys: key === undefined ? undefined : [key] };
}

class SchemaMap implements MapType {
  readonly atomic: boolean;
  readonly #schema: JSONSchemaProps;
  readonly #preserve: boolean;
  readonly #fields = new Map<string, ApplyType | undefined>();
  #compiledElement: ApplyType | undefined;

  constructor(schema: JSONSchemaProps, preserve: boolean) {
    this.atomic = schema["x-kubernetes-map-type"] === "atomic";
    this.#schema = schema;
    this.#preserve = preserve;
  }

  field(name: string): ApplyType | undefined {
    const known = this.#fields.get(name);
    if (known !== undefined) return known;
    const { properties } = this.#schema;
    let schema = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (this.#schema["x-kubernetes-embedded-resource"] === true) schema = EMBEDDED.get(name) ?? schema;
    if (schema === undefined) return undefined;
    const type = applyType(schema, this.#preserve);
    this.#fields.set(name, type);
    return type;
  }

  get element(): ApplyType | undefined {
    this.#compiledElement ??= this.#compileElement();
    return this.#compiledElement;
  }

  #compileElement(): ApplyType | undefined {
    const { additionalProperties, properties } = this.#schema;
    if (additionalProperties === undefined) {
      const free = this.#preserve || properties === undefined || Object.keys(properties).length === 0;
      return free ? DEDUCED : undefined;
    }
    if (additionalProperties === false) return undefined;
    return additionalProperties === true ? DEDUCED : applyType(additionalProperties, this.#preserve);
  }
}

const EMBEDDED = new Map<string, JSONSchemaProps>([
  ["apiVersion", { type: "string" }],
  ["kind", { type: "string" }],
  ["metadata", OBJECT_META_SCHEMA],
]);

/** A resource type's schema, ready for tracking field ownership. */
export interface CompiledApplySchema {
  readonly root: ApplyType;
  /** What a new object is compared with: fields of built-in types that are always present, empty for custom resources. */
  readonly zero: JsonObject;
  /** Sets known to fit the schema, so that unchanged entries are not looked through at each write. */
  readonly reconciled: WeakSet<object>;
}

const NO_FIELDS: JsonObject = Object.freeze({});

const cache = new WeakMap<JSONSchemaProps, CompiledApplySchema>();

/**
 * Prepares a resource type's schema once. Every object has Kubernetes' own apiVersion, kind and metadata whatever the schema
 * says about them. `zero` names what a Go struct of a built-in type always holds, such as `{spec: {}}`: a create does not own
 * those containers.
 */
export function compileApplySchema(schema: JSONSchemaProps, zero: JsonObject = NO_FIELDS): CompiledApplySchema {
  const known = cache.get(schema);
  if (known?.zero === zero) return known;
  const root = applyType({ ...schema, type: "object", "x-kubernetes-embedded-resource": true }, false);
  const compiled = { root, zero, reconciled: new WeakSet() };
  cache.set(schema, compiled);
  return compiled;
}
