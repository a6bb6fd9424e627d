import type { GoUrl } from "../schema/format-uri.ts";
import type { IpBytes } from "../schema/ip-address.ts";
import { type CelType, DYN } from "./types.ts";

/** A run-time failure of an expression: it is absorbed by `||`, `&&` and `?:` where CEL says so. */
export class CelError extends Error {}

/** The cost budget of one evaluation is used up; never absorbed. */
export class CelCostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** An unsigned integer. */
export class CelUint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A point in time, in nanoseconds since 1970 UTC. */
export class CelTimestamp {
  readonly ns: bigint;
  constructor(ns: bigint) {
    this.ns = ns;
  }
}

/** A length of time in nanoseconds. */
export class CelDuration {
  readonly ns: bigint;
  constructor(ns: bigint) {
    this.ns = ns;
  }
}

/** A value that may be absent. */
export class CelOptional {
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** A type as a value: the result of `type(x)`. */
export class CelTypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** An IP address. */
export class CelIp {
  readonly bytes: IpBytes;
  constructor(bytes: IpBytes) {
    this.bytes = bytes;
  }
}

/** An IP network. */
export class CelCidr {
  readonly bytes: IpBytes;
  readonly bits: number;
  constructor(bytes: IpBytes, bits: number) {
    this.bytes = bytes;
    this.bits = bits;
  }
}

/** An exact decimal number with a Kubernetes suffix: `digits` × 10^`scale`. */
export class CelQuantity {
  readonly digits: bigint;
  readonly scale: number;
  constructor(digits: bigint, scale: number) {
    this.digits = digits;
    this.scale = scale;
  }
}

/** A parsed URL. */
export class CelUrl {
  readonly url: GoUrl;
  readonly text: string;
  constructor(url: GoUrl, text: string) {
    this.url = url;
    this.text = text;
  }
}

/** A semantic version. */
export class CelSemver {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly pre: readonly string[];
  constructor(major: bigint, minor: bigint, patch: bigint, pre: readonly string[]) {
    this.major = major;
    this.minor = minor;
    this.patch = patch;
    this.pre = pre;
  }
}

/** A named format with its check, which returns the texts of what is wrong. */
export class CelFormat {
  readonly name: string;
  readonly check: (text: string) => readonly string[];
  constructor(name: string, check: (text: string) => readonly string[]) {
    this.name = name;
    this.check = check;
  }
}

/** A value that only one library can read, under the name of its type. */
export class CelHandle {
  readonly type: string;
  readonly content: object;
  constructor(type: string, content: object) {
    this.type = type;
    this.content = content;
  }
}

/** A list; items may be converted on access. */
export interface CelList {
  readonly size: number;
  at(index: number): Value;
  /** How equality and `+` treat the list: Kubernetes' sets ignore order, maps join by key. */
  readonly listType: "atomic" | "set" | "map";
  readonly mapKeys: readonly string[];
}

/** A map or an object with fields; values may be converted on access. */
export interface CelMap {
  readonly size: number;
  /** The value under a key, undefined when absent. */
  get(key: Value): Value | undefined;
  has(key: Value): boolean;
  keys(): readonly Value[];
}

/** Any CEL value. Ints are bigint, doubles number, strings and booleans themselves. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelOptional
  | CelTypeValue
  | CelIp
  | CelCidr
  | CelQuantity
  | CelUrl
  | CelSemver
  | CelFormat
  | CelHandle
  | ListValue
  | MapValue;

/** Base of lists, which distinguishes them from maps. */
export abstract class ListValue implements CelList {
  abstract readonly size: number;
  abstract at(index: number): Value;
  get listType(): "atomic" | "set" | "map" {
    return "atomic";
  }
  get mapKeys(): readonly string[] {
    return [];
  }
  /** The items as an array. */
  values(): Value[] {
    const items: Value[] = [];
    for (let i = 0; i < this.size; i++) items.push(this.at(i));
    return items;
  }
}

/** Base of maps and objects. */
export abstract class MapValue implements CelMap {
  abstract readonly size: number;
  abstract get(key: Value): Value | undefined;
  abstract has(key: Value): boolean;
  abstract keys(): readonly Value[];
  /** Looks a field of an object up by its name in expressions. */
  field(name: string): Value | undefined {
    return this.get(name);
  }
  hasField(name: string): boolean {
    return this.has(name);
  }
}

/** A list made by an expression. */
export class ArrayList extends ListValue {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
  get size(): number {
    return this.items.length;
  }
  at(index: number): Value {
    return this.items[index] ?? null;
  }
  override values(): Value[] {
    return [...this.items];
  }
}

/** A list under construction by map() and filter(): appending is amortized constant. */
export class GrowingList extends ListValue {
  readonly items: Value[] = [];
  get size(): number {
    return this.items.length;
  }
  at(index: number): Value {
    return this.items[index] ?? null;
  }
  override values(): Value[] {
    return [...this.items];
  }
}

/** A map made by an expression. */
export class EntryMap extends MapValue {
  readonly entries: ReadonlyMap<string, readonly [Value, Value]>;
  constructor(entries: ReadonlyMap<string, readonly [Value, Value]>) {
    super();
    this.entries = entries;
  }
  get size(): number {
    return this.entries.size;
  }
  get(key: Value): Value | undefined {
    return this.entries.get(keyText(key))?.[1];
  }
  has(key: Value): boolean {
    return this.entries.has(keyText(key));
  }
  keys(): readonly Value[] {
    return [...this.entries.values()].map(([key]) => key);
  }
}

/** A map under construction by transformMap(). */
export class GrowingMap extends EntryMap {
  readonly live: Map<string, readonly [Value, Value]>;
  constructor() {
    const live = new Map<string, readonly [Value, Value]>();
    super(live);
    this.live = live;
  }
}

/** The identity of a map key: numbers of equal value are the same key whatever their type. */
export function keyText(key: Value): string {
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "boolean") return `b${key}`;
  if (typeof key === "bigint") return `n${key}`;
  if (key instanceof CelUint) return `n${key.value}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : `n${key}`;
  throw new CelError("unsupported key type");
}

/** The name of a value's type. */
export function typeName(value: Value): string {
  if (value === null) return "null_type";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "double";
  if (typeof value === "string") return "string";
  if (value instanceof ListValue) return "list";
  if (value instanceof MapValue) return "map";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof CelUint) return "uint";
  if (value instanceof CelTimestamp) return "google.protobuf.Timestamp";
  if (value instanceof CelDuration) return "google.protobuf.Duration";
  if (value instanceof CelOptional) return "optional_type";
  if (value instanceof CelTypeValue) return "type";
  if (value instanceof CelIp) return "net.IP";
  if (value instanceof CelCidr) return "net.CIDR";
  if (value instanceof CelQuantity) return "kubernetes.Quantity";
  if (value instanceof CelUrl) return "kubernetes.URL";
  if (value instanceof CelHandle) return value.type;
  return value instanceof CelSemver ? "kubernetes.Semver" : "kubernetes.NamedFormat";
}

const KIND_NAMES: Readonly<Record<string, string>> = {
  null: "null_type",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  optional: "optional_type",
  object: "map",
};

/** Whether a value can be passed where a type is declared; used to choose overloads for dynamic arguments. */
export function fits(value: Value, type: CelType): boolean {
  if (type.kind === "dyn" || type.kind === "param" || type === DYN) return true;
  const name = typeName(value);
  return name === (type.kind === "opaque" ? type.name : (KIND_NAMES[type.kind] ?? type.kind));
}
