import { parseGoDurationNs } from "../schema/format-duration.ts";
import { compilePattern } from "../schema/pattern.ts";
import { compareNumbers, compareValues, equals, sameKeys } from "./equality.ts";
import { define } from "./functions.ts";
import {
  dateFields,
  formatDurationSeconds,
  formatTimestamp,
  MAX_TIMESTAMP_NS,
  MIN_TIMESTAMP_NS,
  parseTimestamp,
} from "./time.ts";
import {
  ArrayList,
  CelDuration,
  CelError,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  EntryMap,
  GrowingList,
  GrowingMap,
  keyText,
  ListValue,
  MapValue,
  typeName,
  type Value,
} from "./values.ts";

const INT_MIN = -(1n << 63n);
const INT_MAX = (1n << 63n) - 1n;
const UINT_MAX = (1n << 64n) - 1n;

/** Checks the range of an int result. */
export function int(value: bigint, what = "integer overflow"): bigint {
  if (value < INT_MIN || value > INT_MAX) throw new CelError(what);
  return value;
}

function uint(value: bigint): CelUint {
  if (value < 0n || value > UINT_MAX) throw new CelError("unsigned integer overflow");
  return new CelUint(value);
}

const MAX_LIST = 1_000_000;

const i = (v: Value | undefined): bigint => v as bigint;
const d = (v: Value | undefined): number => v as number;
const u = (v: Value | undefined): bigint => (v as CelUint).value;
const s = (v: Value | undefined): string => v as string;
const ns = (v: Value | undefined): bigint => (v as CelTimestamp | CelDuration).ns;

/** Number of code points. */
export function runeCount(text: string): number {
  let count = text.length;
  for (let k = 0; k < text.length; k++) {
    const code = text.charCodeAt(k);
    if (code >= 0xdc00 && code <= 0xdfff) count--;
  }
  return count;
}

/** CEL's size(): characters, bytes, items or entries. */
export function sizeOf(value: Value | undefined): number {
  if (typeof value === "string") return runeCount(value);
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  throw new CelError("no such overload");
}

define("_==_", "equals", "(A,A):bool", (a, b) => equals(a as Value, b as Value));
define("_!=_", "not_equals", "(A,A):bool", (a, b) => !equals(a as Value, b as Value));
define("!_", "logical_not", "(bool):bool", (a) => a !== true);
define("@not_strictly_false", "not_strictly_false", "(bool):bool", (a) => a !== false);
define("_&&_", "logical_and", "(bool,bool):bool", (a, b) => a === true && b === true);
define("_||_", "logical_or", "(bool,bool):bool", (a, b) => a === true || b === true);
define("_?_:_", "conditional", "(bool,A,A):A", (c, a, b) => (c === true ? a : b) as Value);

const ORDERED = ["bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"];
const NUMERIC = ["int", "uint", "double"];
const RELATIONS: readonly (readonly [string, string, (order: number) => boolean])[] = [
  ["_<_", "less", (o) => o < 0],
  ["_<=_", "less_equals", (o) => o <= 0],
  ["_>_", "greater", (o) => o > 0],
  ["_>=_", "greater_equals", (o) => o >= 0],
];
for (const [fn, name, test] of RELATIONS) {
  for (const type of ORDERED) {
    const numeric = NUMERIC.includes(type);
    define(fn, `${name}_${type}`, `(${type},${type}):bool`, (a, b) => {
      const order = numeric ? compareNumbers(a as Value, b as Value) : compareValues(a as Value, b as Value);
      return order !== undefined && test(order);
    });
  }
  for (const left of NUMERIC) {
    for (const right of NUMERIC) {
      if (left === right) continue;
      define(fn, `${name}_${left}_${right}`, `(${left},${right}):bool`, (a, b) => {
        const order = compareNumbers(a as Value, b as Value);
        return order !== undefined && test(order);
      });
    }
  }
}

define("_+_", "add_int64", "(int,int):int", (a, b) => int(i(a) + i(b)));
define("_+_", "add_uint64", "(uint,uint):uint", (a, b) => uint(u(a) + u(b)));
define("_+_", "add_double", "(double,double):double", (a, b) => d(a) + d(b));
define("_+_", "add_string", "(string,string):string", (a, b) => s(a) + s(b));
define("_+_", "add_bytes", "(bytes,bytes):bytes", (a, b) => Buffer.concat([a as Uint8Array, b as Uint8Array]));
define("_+_", "add_list", "(list<A>,list<A>):list<A>", (a, b) => addLists(a as ListValue, b as ListValue));
define("_+_", "add_timestamp_duration", "(timestamp,duration):timestamp", (a, b) => timestamp(ns(a) + ns(b)));
define("_+_", "add_duration_timestamp", "(duration,timestamp):timestamp", (a, b) => timestamp(ns(a) + ns(b)));
define(
  "_+_",
  "add_duration_duration",
  "(duration,duration):duration",
  (a, b) => new CelDuration(int(ns(a) + ns(b), "duration overflow")),
);
define("_-_", "subtract_int64", "(int,int):int", (a, b) => int(i(a) - i(b)));
define("_-_", "subtract_uint64", "(uint,uint):uint", (a, b) => uint(u(a) - u(b)));
define("_-_", "subtract_double", "(double,double):double", (a, b) => d(a) - d(b));
define(
  "_-_",
  "subtract_timestamp_timestamp",
  "(timestamp,timestamp):duration",
  (a, b) => new CelDuration(int(ns(a) - ns(b), "duration overflow")),
);
define("_-_", "subtract_timestamp_duration", "(timestamp,duration):timestamp", (a, b) => timestamp(ns(a) - ns(b)));
define(
  "_-_",
  "subtract_duration_duration",
  "(duration,duration):duration",
  (a, b) => new CelDuration(int(ns(a) - ns(b), "duration overflow")),
);
define("_*_", "multiply_int64", "(int,int):int", (a, b) => int(i(a) * i(b)));
define("_*_", "multiply_uint64", "(uint,uint):uint", (a, b) => uint(u(a) * u(b)));
define("_*_", "multiply_double", "(double,double):double", (a, b) => d(a) * d(b));
define("_/_", "divide_int64", "(int,int):int", (a, b) => int(i(a) / nonZero(i(b), "division by zero")));
define("_/_", "divide_uint64", "(uint,uint):uint", (a, b) => uint(u(a) / nonZero(u(b), "division by zero")));
define("_/_", "divide_double", "(double,double):double", (a, b) => d(a) / d(b));
define("_%_", "modulo_int64", "(int,int):int", (a, b) => i(a) % nonZero(i(b), "modulus by zero"));
define("_%_", "modulo_uint64", "(uint,uint):uint", (a, b) => uint(u(a) % nonZero(u(b), "modulus by zero")));
define("-_", "negate_int64", "(int):int", (a) => int(-i(a)));
define("-_", "negate_double", "(double):double", (a) => -d(a));

function nonZero(value: bigint, what: string): bigint {
  if (value === 0n) throw new CelError(what);
  return value;
}

function timestamp(value: bigint): CelTimestamp {
  if (value < MIN_TIMESTAMP_NS || value > MAX_TIMESTAMP_NS) throw new CelError("timestamp overflow");
  return new CelTimestamp(value);
}

/** `+` on lists: sets stay sets, map lists are merged by key, others are joined. */
function addLists(a: ListValue, b: ListValue): Value {
  if (a instanceof GrowingList && b.size === 1) {
    a.items.push(b.at(0));
    return a;
  }
  if (a.size + b.size > MAX_LIST) throw new CelError("list is too long");
  const items = a.values();
  if (a.listType === "set") {
    for (const item of b.values()) if (!items.some((known) => equals(known, item))) items.push(item);
    return new ArrayList(items);
  }
  if (a.listType === "map") {
    for (const item of b.values()) {
      const at = items.findIndex((known) => sameKeys(known, item, a.mapKeys));
      if (at < 0) items.push(item);
      else items[at] = item;
    }
    return new ArrayList(items);
  }
  for (const item of b.values()) items.push(item);
  return new ArrayList(items);
}

define("@in", "in_list", "(A,list<A>):bool", (a, list) => {
  const items = list as ListValue;
  for (let k = 0; k < items.size; k++) if (equals(items.at(k), a as Value)) return true;
  return false;
});
define("@in", "in_map", "(A,map<A,B>):bool", (a, map) => (map as MapValue).has(a as Value));
define("_[_]", "index_list", "(list<A>,int):A", (list, index) => indexList(list as ListValue, index as Value));
define("_[_]", "index_map", "(map<A,B>,A):B", (map, key) => {
  const value = (map as MapValue).get(key as Value);
  if (value === undefined)
    throw new CelError(`no such key: ${typeof key === "string" ? key : keyText(key as Value).slice(1)}`);
  return value;
});

function indexList(list: ListValue, index: Value): Value {
  const at = Number(index);
  if (at < 0 || at >= list.size) throw new CelError(`index out of bounds: ${at}`);
  return list.at(at);
}

for (const type of ["string", "bytes", "list<A>", "map<A,B>"]) {
  const id = type.replace(/<.*/, "");
  define("size", `size_${id}`, `(${type}):int`, (v) => BigInt(sizeOf(v)));
  define("size", `${id}_size`, `${type}.():int`, (v) => BigInt(sizeOf(v)));
}
define("startsWith", "starts_with_string", "string.(string):bool", (a, b) => s(a).startsWith(s(b)));
define("endsWith", "ends_with_string", "string.(string):bool", (a, b) => s(a).endsWith(s(b)));
define("contains", "contains_string", "string.(string):bool", (a, b) => s(a).includes(s(b)));
const matches = (text: Value | undefined, pattern: Value | undefined): boolean => {
  const compiled = compilePattern(s(pattern));
  if (compiled.match === undefined) throw new CelError(compiled.error ?? "invalid pattern");
  return compiled.match(s(text));
};
define("matches", "matches", "(string,string):bool", matches);
define("matches", "matches_string", "string.(string):bool", matches);

define("type", "type", "(A):type<A>", (v) => new CelTypeValue(typeName(v as Value)));
define("dyn", "to_dyn", "(A):dyn", (v) => v as Value);
define("bool", "bool_to_bool", "(bool):bool", (v) => v as Value);
define("bool", "string_to_bool", "(string):bool", (v) => {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(s(v))) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(s(v))) return false;
  throw conversion("bool");
});
define("int", "int64_to_int64", "(int):int", (v) => v as Value);
define("int", "uint64_to_int64", "(uint):int", (v) => int(u(v)));
define("int", "double_to_int64", "(double):int", (v) => {
  if (!Number.isFinite(d(v)) || Math.abs(d(v)) >= 2 ** 63) throw new CelError("integer overflow");
  return BigInt(Math.trunc(d(v)));
});
define("int", "string_to_int64", "(string):int", (v) => {
  if (!/^[+-]?\d+$/.test(s(v)) || s(v).length > 30) throw conversion("int");
  return int(BigInt(s(v).replace("+", "")), "type conversion error from 'string' to 'int'");
});
define("int", "timestamp_to_int64", "(timestamp):int", (v) => ns(v) / 1_000_000_000n);
define("int", "duration_to_int64", "(duration):int", (v) => ns(v));
define("uint", "uint64_to_uint64", "(uint):uint", (v) => v as Value);
define("uint", "int64_to_uint64", "(int):uint", (v) => uint(i(v)));
define("uint", "double_to_uint64", "(double):uint", (v) => {
  if (!Number.isFinite(d(v)) || d(v) < 0 || d(v) >= 2 ** 64) throw new CelError("unsigned integer overflow");
  return uint(BigInt(Math.trunc(d(v))));
});
define("uint", "string_to_uint64", "(string):uint", (v) => {
  if (!/^\d{1,30}$/.test(s(v))) throw conversion("uint");
  return uint(BigInt(s(v)));
});
define("double", "double_to_double", "(double):double", (v) => v as Value);
define("double", "int64_to_double", "(int):double", (v) => Number(i(v)));
define("double", "uint64_to_double", "(uint):double", (v) => Number(u(v)));
define("double", "string_to_double", "(string):double", (v) => {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$|^[+-]?(?:Inf(?:inity)?|NaN)$/i.test(s(v))) {
    throw conversion("double");
  }
  return Number(
    s(v)
      .replace(/inf(?:inity)?/i, "Infinity")
      .replace(/nan/i, "NaN"),
  );
});
define("string", "string_to_string", "(string):string", (v) => v as Value);
define("string", "bool_to_string", "(bool):string", (v) => (v === true ? "true" : "false"));
define("string", "int64_to_string", "(int):string", (v) => i(v).toString());
define("string", "uint64_to_string", "(uint):string", (v) => String(u(v)));
define("string", "double_to_string", "(double):string", (v) => formatDouble(d(v)));
define("string", "bytes_to_string", "(bytes):string", (v) => decodeUtf8(v as Uint8Array));
define("string", "timestamp_to_string", "(timestamp):string", (v) => formatTimestamp(ns(v)));
define("string", "duration_to_string", "(duration):string", (v) => formatDurationSeconds(ns(v)));
define("bytes", "bytes_to_bytes", "(bytes):bytes", (v) => v as Value);
define("bytes", "string_to_bytes", "(string):bytes", (v) => new TextEncoder().encode(s(v)));
define("timestamp", "timestamp_to_timestamp", "(timestamp):timestamp", (v) => v as Value);
define("timestamp", "int64_to_timestamp", "(int):timestamp", (v) => timestamp(i(v) * 1_000_000_000n));
define("timestamp", "string_to_timestamp", "(string):timestamp", (v) => {
  const value = parseTimestamp(s(v));
  if (value === undefined) throw conversion("google.protobuf.Timestamp");
  return timestamp(value);
});
define("duration", "duration_to_duration", "(duration):duration", (v) => v as Value);
define("duration", "int64_to_duration", "(int):duration", (v) => new CelDuration(i(v)));
define("duration", "string_to_duration", "(string):duration", (v) => {
  const value = parseGoDurationNs(s(v));
  if (value === undefined) throw conversion("google.protobuf.Duration");
  return new CelDuration(value);
});

function conversion(to: string): CelError {
  return new CelError(`type conversion error from 'string' to '${to}'`);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

/** A double as Go's strconv prints it with the shortest form. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return String(value);
}

const GETTERS: readonly (readonly [string, (date: Date, ms: number) => number])[] = [
  ["getFullYear", (t) => t.getUTCFullYear()],
  ["getMonth", (t) => t.getUTCMonth()],
  [
    "getDayOfYear",
    (t) =>
      Math.floor(
        (Date.UTC(t.getUTCFullYear(), t.getUTCMonth(), t.getUTCDate()) - Date.UTC(t.getUTCFullYear(), 0, 1)) /
          86_400_000,
      ),
  ],
  ["getDayOfMonth", (t) => t.getUTCDate() - 1],
  ["getDate", (t) => t.getUTCDate()],
  ["getDayOfWeek", (t) => t.getUTCDay()],
  ["getHours", (t) => t.getUTCHours()],
  ["getMinutes", (t) => t.getUTCMinutes()],
  ["getSeconds", (t) => t.getUTCSeconds()],
  ["getMilliseconds", (_t, ms) => ms],
];
for (const [fn, get] of GETTERS) {
  const run = (t: Value | undefined, zone: Value | undefined): Value => {
    const fields = dateFields(ns(t), zone === undefined ? "" : s(zone));
    if (fields === undefined) throw new CelError(`unknown time zone ${s(zone)}`);
    return BigInt(get(fields.date, fields.ms));
  };
  define(fn, `timestamp_${fn}`, "timestamp.():int", run);
  define(fn, `timestamp_${fn}_with_tz`, "timestamp.(string):int", run);
}
const PARTS: readonly (readonly [string, bigint])[] = [
  ["getHours", 3_600_000_000_000n],
  ["getMinutes", 60_000_000_000n],
  ["getSeconds", 1_000_000_000n],
  ["getMilliseconds", 1_000_000n],
];
for (const [fn, unit] of PARTS) define(fn, `duration_${fn}`, "duration.():int", (v) => ns(v) / unit);

define("cel.@mapInsert", "cel_@mapInsert_map_key_value", "(map<K,V>,K,V):map<K,V>", (map, key, value) =>
  insert(map as MapValue, [[key as Value, value as Value]]),
);
define("cel.@mapInsert", "cel_@mapInsert_map_map", "(map<K,V>,map<K,V>):map<K,V>", (map, other) =>
  insert(
    map as MapValue,
    (other as MapValue).keys().map((key) => [key, (other as MapValue).get(key) ?? null]),
  ),
);

function insert(map: MapValue, entries: readonly (readonly [Value, Value])[]): Value {
  const growing = map instanceof GrowingMap;
  const all = growing ? map.live : new Map<string, readonly [Value, Value]>();
  if (!growing) for (const key of map.keys()) all.set(keyText(key), [key, map.get(key) ?? null]);
  for (const [key, value] of entries) {
    if (all.has(keyText(key))) throw new CelError(`insert failed: key ${keyText(key).slice(1)} already exists`);
    all.set(keyText(key), [key, value]);
  }
  return growing ? map : new EntryMap(all);
}
