/** A CEL type. Object types are the same only if they share one `fields` map; opaque types are compared by name. */
export interface CelType {
  readonly kind:
    | "bool"
    | "int"
    | "uint"
    | "double"
    | "string"
    | "bytes"
    | "null"
    | "timestamp"
    | "duration"
    | "dyn"
    | "error"
    | "list"
    | "map"
    | "optional"
    | "type"
    | "object"
    | "opaque"
    | "param";
  readonly params: readonly CelType[];
  /** Name of an object, an opaque type or a type parameter. */
  readonly name: string;
  /** Types of the fields of an object by escaped name. */
  readonly fields?: ReadonlyMap<string, CelType>;
}

const simple = (kind: CelType["kind"]): CelType => ({ kind, params: [], name: "" });

/** CEL's bool type. */
export const BOOL = simple("bool");
/** CEL's int type, a signed 64-bit integer. */
export const INT = simple("int");
/** CEL's uint type, an unsigned 64-bit integer. */
export const UINT = simple("uint");
/** CEL's double type, a 64-bit floating point number. */
export const DOUBLE = simple("double");
/** CEL's string type, a sequence of Unicode code points. */
export const STRING = simple("string");
/** CEL's bytes type. */
export const BYTES = simple("bytes");
/** CEL's null_type, the type of the value null. */
export const NULL = simple("null");
/** CEL's google.protobuf.Timestamp, a point in time. */
export const TIMESTAMP = simple("timestamp");
/** CEL's google.protobuf.Duration, a span of time. */
export const DURATION = simple("duration");
/** CEL's dyn type: the type is known only at runtime, so that the checker accepts any use. */
export const DYN = simple("dyn");
/** The type of an expression that failed type checking; it fits everywhere, so that one error is reported once. */
export const ERROR = simple("error");

const opaque = (name: string): CelType => ({ kind: "opaque", params: [], name });

/** The type of an IP address, from Kubernetes' IP library. */
export const IP = opaque("net.IP");
/** The type of a CIDR such as 10.0.0.0/8, from Kubernetes' CIDR library. */
export const CIDR = opaque("net.CIDR");
/** The type of a quantity such as 500m, from Kubernetes' quantity library. */
export const QUANTITY = opaque("kubernetes.Quantity");
/** The type of a parsed URL, from Kubernetes' URL library. */
export const URL_TYPE = opaque("kubernetes.URL");
/** The type of a semantic version, from Kubernetes' semver library. */
export const SEMVER = opaque("kubernetes.Semver");
/** The type of a named string format such as dns1123Label, from Kubernetes' format library. */
export const FORMAT = opaque("kubernetes.NamedFormat");
const authorization = (name: string): CelType => opaque(`kubernetes.authorization.${name}`);

/** Returns the type of a list with the given element type. */
export function listOf(element: CelType): CelType {
  return { kind: "list", params: [element], name: "" };
}
/** Returns the type of a map with the given key and value types. */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: "map", params: [key, value], name: "" };
}
/** Returns CEL's optional_type of a value type. */
export function optionalOf(value: CelType): CelType {
  return { kind: "optional", params: [value], name: "" };
}
/** Returns the type of a type value, such as the result of `type(x)`. */
export function typeOf(type: CelType): CelType {
  return { kind: "type", params: [type], name: "" };
}
/** Returns a type parameter of a generic function, such as `A` in `list(A)`. */
export function paramOf(name: string): CelType {
  return { kind: "param", params: [], name };
}

/** Returns the element type of a list or optional, the value type of a map, or the described type of a type; dyn if there is none. */
export function elementOf(type: CelType): CelType {
  return type.params[type.params.length - 1] ?? DYN;
}

/** Formats a type as cel-go does in its error messages. */
export function formatType(type: CelType): string {
  switch (type.kind as string) {
    case "list":
      return `list(${formatType(elementOf(type))})`;
    case "map":
      return `map(${type.params.map(formatType).join(", ")})`;
    case "optional":
      return `optional_type(${formatType(elementOf(type))})`;
    case "type":
      return type.params.length === 0 ? "type" : `type(${formatType(elementOf(type))})`;
    case "object":
    case "opaque":
    case "param":
      return type.name;
    case "error":
      return "!error!";
    default:
      return type.kind;
  }
}

const NAMED: Readonly<Record<string, CelType>> = {
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  null: NULL,
  timestamp: TIMESTAMP,
  duration: DURATION,
  dyn: DYN,
  IP,
  CIDR,
  Quantity: QUANTITY,
  URL: URL_TYPE,
  Semver: SEMVER,
  Format: FORMAT,
  Authorizer: authorization("Authorizer"),
  PathCheck: authorization("PathCheck"),
  GroupCheck: authorization("GroupCheck"),
  ResourceCheck: authorization("ResourceCheck"),
  Decision: authorization("Decision"),
  type: { kind: "type", params: [], name: "" },
};

/** Parses a type of a function signature: `list<A>`, `map<K,V>`, `optional<V>`, `string`. Unknown names such as `A` are type parameters. */
export function parseType(text: string): CelType {
  const generic = /^(\w+)<(.*)>$/.exec(text);
  if (generic === null) return NAMED[text] ?? paramOf(text);
  const inner = splitTop(generic[2] ?? "").map(parseType);
  const first = inner[0] ?? DYN;
  if (generic[1] === "list") return listOf(first);
  if (generic[1] === "map") return mapOf(first, inner[1] ?? DYN);
  return generic[1] === "type" ? typeOf(first) : optionalOf(first);
}

/** Splits at commas outside angle brackets. */
export function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const ch = text[i];
    if (ch === "<") depth++;
    else if (ch === ">") depth--;
    else if ((ch === "," && depth === 0) || ch === undefined) {
      const part = text.slice(start, i).trim();
      if (part !== "") parts.push(part);
      start = i + 1;
    }
  }
  return parts;
}
