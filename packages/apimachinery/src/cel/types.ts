/** A CEL type. Objects are told apart by identity of `object`, opaque types by name. */
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

/** Types without parameters. */
export const BOOL = simple("bool");
export const INT = simple("int");
export const UINT = simple("uint");
export const DOUBLE = simple("double");
export const STRING = simple("string");
export const BYTES = simple("bytes");
export const NULL = simple("null");
export const TIMESTAMP = simple("timestamp");
export const DURATION = simple("duration");
export const DYN = simple("dyn");
export const ERROR = simple("error");

const opaque = (name: string): CelType => ({ kind: "opaque", params: [], name });

/** Types of the Kubernetes libraries. */
export const IP = opaque("net.IP");
export const CIDR = opaque("net.CIDR");
export const QUANTITY = opaque("kubernetes.Quantity");
export const URL_TYPE = opaque("kubernetes.URL");
export const SEMVER = opaque("kubernetes.Semver");
export const FORMAT = opaque("kubernetes.NamedFormat");
const authorization = (name: string): CelType => opaque(`kubernetes.authorization.${name}`);

/** A list of one element type. */
export function listOf(element: CelType): CelType {
  return { kind: "list", params: [element], name: "" };
}
/** A map of one key and one value type. */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: "map", params: [key, value], name: "" };
}
/** A value that may be absent. */
export function optionalOf(value: CelType): CelType {
  return { kind: "optional", params: [value], name: "" };
}
/** The type of a type. */
export function typeOf(type: CelType): CelType {
  return { kind: "type", params: [type], name: "" };
}
/** A type parameter of a generic function. */
export function paramOf(name: string): CelType {
  return { kind: "param", params: [], name };
}

/** The first parameter of a list, optional or type, the value type of a map. */
export function elementOf(type: CelType): CelType {
  return type.params[type.params.length - 1] ?? DYN;
}

/** The type as cel-go prints it. */
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

/** Reads a type written as in signatures: `list<A>`, `map<K,V>`, `optional<V>`, `string`; single capitals are parameters. */
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
