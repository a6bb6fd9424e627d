import { formatChecker, knownFormat } from "./formats.ts";
import { compilePattern, type PatternMatcher } from "./pattern.ts";
import type { JSONSchemaProps, ValidationRule } from "./types.ts";

/** Bits of the types a schema accepts; `INTEGER` also accepts whole floats, `NUMBER` accepts integers. */
export const TYPE_BITS = { object: 1, array: 2, string: 4, integer: 8, number: 16, boolean: 32 } as const;

/** What hangs below a node, so that walks skip subtrees without the feature they look for. */
export interface Features {
  /** `x-kubernetes-list-type` set or map. */
  readonly listTypes: boolean;
  /** `x-kubernetes-embedded-resource`. */
  readonly embedded: boolean;
  /** `x-kubernetes-validations`. */
  readonly rules: boolean;
}

const NO_STRINGS: readonly string[] = [];
const NO_NODES: readonly SchemaNode[] = [];

/**
 * One level of a schema with everything precomputed that checks, pruning and defaulting need.
 * Children are built on first use: big schemas of which few fields are used stay cheap.
 */
export class SchemaNode {
  readonly schema: JSONSchemaProps;
  /** Accepted types as bits; 0 = any. */
  readonly types: number;
  /** Accepted types as Kubernetes prints them. */
  readonly typeNames: string;
  readonly nullable: boolean;
  /** The format, when Kubernetes checks it; "" otherwise. */
  readonly format: string;
  readonly checkFormat: ((text: string) => boolean) | undefined;
  readonly enumValues: readonly unknown[] | undefined;
  readonly enumStrings: ReadonlySet<string> | undefined;
  readonly required: readonly string[];
  readonly propertyNames: readonly string[];
  readonly hasProperties: boolean;
  readonly additionalAllowed: boolean;
  readonly preserve: boolean;
  readonly embedded: boolean;
  readonly listType: string;
  readonly mapKeys: readonly string[];
  readonly rules: readonly ValidationRule[];
  readonly defaultValue: unknown;
  readonly hasNumberLimits: boolean;
  readonly hasJunctors: boolean;
  readonly pattern: PatternMatcher | undefined;
  readonly patternError: string | undefined;

  #properties: Map<string, SchemaNode> | undefined;
  #items: SchemaNode | undefined;
  #additional: SchemaNode | undefined;
  #allOf: readonly SchemaNode[] | undefined;
  #anyOf: readonly SchemaNode[] | undefined;
  #oneOf: readonly SchemaNode[] | undefined;
  #not: SchemaNode | undefined;
  #features: Features | undefined;
  #defaulted: readonly string[] | undefined;

  constructor(schema: JSONSchemaProps) {
    this.schema = schema;
    const intOrString = schema["x-kubernetes-int-or-string"] === true;
    this.types = intOrString ? TYPE_BITS.integer | TYPE_BITS.string : typeBits(schema.type);
    this.typeNames = intOrString ? "integer,string" : (schema.type ?? "");
    this.nullable = schema.nullable === true;
    this.format = knownFormat(schema.format ?? "", schema.type) ? (schema.format ?? "") : "";
    this.checkFormat = formatChecker(this.format);
    this.enumValues = schema.enum !== undefined && schema.enum.length > 0 ? schema.enum : undefined;
    this.enumStrings = this.enumValues?.every((v) => typeof v === "string")
      ? new Set(this.enumValues as readonly string[])
      : undefined;
    this.required = schema.required ?? NO_STRINGS;
    this.propertyNames = schema.properties === undefined ? NO_STRINGS : Object.keys(schema.properties);
    this.hasProperties = this.propertyNames.length > 0;
    this.additionalAllowed = schema.additionalProperties !== undefined;
    this.preserve = schema["x-kubernetes-preserve-unknown-fields"] === true;
    this.embedded = schema["x-kubernetes-embedded-resource"] === true;
    this.listType = schema["x-kubernetes-list-type"] ?? "";
    this.mapKeys = schema["x-kubernetes-list-map-keys"] ?? NO_STRINGS;
    this.rules = schema["x-kubernetes-validations"] ?? [];
    this.defaultValue = schema.default ?? undefined;
    this.hasNumberLimits =
      schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined;
    this.hasJunctors =
      schema.allOf !== undefined ||
      schema.anyOf !== undefined ||
      schema.oneOf !== undefined ||
      schema.not !== undefined;
    const compiled = schema.pattern ? compilePattern(schema.pattern) : undefined;
    this.pattern = compiled?.match;
    this.patternError = compiled?.error;
  }

  /** Whether a null here is dropped or defaulted instead of kept. */
  get refusesNull(): boolean {
    return !this.nullable;
  }

  /** The nodes of declared properties, in the schema's order. */
  get properties(): ReadonlyMap<string, SchemaNode> {
    if (this.#properties === undefined) {
      this.#properties = new Map();
      for (const [name, child] of Object.entries(this.schema.properties ?? {})) {
        this.#properties.set(name, nodeOf(child));
      }
    }
    return this.#properties;
  }

  /** The schema of list items. */
  get items(): SchemaNode | undefined {
    if (this.#items === undefined && this.schema.items !== undefined) this.#items = nodeOf(this.schema.items);
    return this.#items;
  }

  /** The schema of values under undeclared keys; undefined also for `true` and `false`. */
  get additional(): SchemaNode | undefined {
    const schema = this.schema.additionalProperties;
    if (this.#additional === undefined && typeof schema === "object") this.#additional = nodeOf(schema);
    return this.#additional;
  }

  /** Schemas that must all hold. */
  get allOf(): readonly SchemaNode[] {
    this.#allOf ??= nodesOf(this.schema.allOf);
    return this.#allOf;
  }

  /** Schemas of which one must hold. */
  get anyOf(): readonly SchemaNode[] {
    this.#anyOf ??= nodesOf(this.schema.anyOf);
    return this.#anyOf;
  }

  /** Schemas of which exactly one must hold. */
  get oneOf(): readonly SchemaNode[] {
    this.#oneOf ??= nodesOf(this.schema.oneOf);
    return this.#oneOf;
  }

  /** A schema that must not hold. */
  get not(): SchemaNode | undefined {
    if (this.#not === undefined && this.schema.not !== undefined) this.#not = nodeOf(this.schema.not);
    return this.#not;
  }

  /** The schema that applies to the value under `key` of an object. */
  child(key: string): SchemaNode | undefined {
    return this.properties.get(key) ?? this.additional;
  }

  /** Names of properties with a default. */
  get defaulted(): readonly string[] {
    this.#defaulted ??= this.propertyNames.filter((name) => this.properties.get(name)?.defaultValue !== undefined);
    return this.#defaulted;
  }

  /** Which features occur at this node or below. */
  get features(): Features {
    if (this.#features === undefined) {
      let listTypes = this.listType === "set" || this.listType === "map";
      let embedded = this.embedded;
      let rules = this.rules.length > 0;
      for (const child of this.#children()) {
        listTypes ||= child.features.listTypes;
        embedded ||= child.features.embedded;
        rules ||= child.features.rules;
      }
      this.#features = { listTypes, embedded, rules };
    }
    return this.#features;
  }

  *#children(): Iterable<SchemaNode> {
    yield* this.properties.values();
    if (this.items !== undefined) yield this.items;
    if (this.additional !== undefined) yield this.additional;
  }
}

const nodes = new WeakMap<JSONSchemaProps, SchemaNode>();

/** The node of a schema; the same schema object always gives the same node, so servers share them. */
export function nodeOf(schema: JSONSchemaProps): SchemaNode {
  let node = nodes.get(schema);
  if (node === undefined) {
    node = new SchemaNode(schema);
    nodes.set(schema, node);
  }
  return node;
}

function nodesOf(schemas: readonly JSONSchemaProps[] | undefined): readonly SchemaNode[] {
  return schemas === undefined ? NO_NODES : schemas.map(nodeOf);
}

function typeBits(type: string | undefined): number {
  if (type === undefined || type === "") return 0;
  return Object.hasOwn(TYPE_BITS, type) ? TYPE_BITS[type as keyof typeof TYPE_BITS] : 64;
}
