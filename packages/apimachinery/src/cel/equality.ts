import { deepEqual, stableStringify } from "../json.ts";
import { RawList, RawMap, RawObject, rawObjectsEqual } from "./decl.ts";
import {
  CelCidr,
  CelDuration,
  CelError,
  CelFormat,
  CelHandle,
  CelIp,
  CelOptional,
  CelQuantity,
  CelSemver,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  CelUrl,
  ListValue,
  MapValue,
  type Value,
} from "./values.ts";

/** CEL's `==`: numbers compare across types, lists and maps by content; sets ignore order, map lists join by key. */
export function equals(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  if (typeof a === "string" || typeof a === "boolean") return false;
  if (typeof a === "bigint" || typeof a === "number") return numberOf(b) !== undefined && compareNumbers(a, b) === 0;
  if (a instanceof CelUint) return numberOf(b) !== undefined && compareNumbers(a, b) === 0;
  if (a instanceof ListValue) return b instanceof ListValue && listsEqual(a, b);
  if (a instanceof MapValue) return b instanceof MapValue && mapsEqual(a, b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.ns === b.ns;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.ns === b.ns;
  if (a instanceof CelOptional) return b instanceof CelOptional && optionalsEqual(a, b);
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name;
  return libraryEqual(a, b);
}

function libraryEqual(a: Value, b: Value): boolean {
  if (a instanceof CelIp) return b instanceof CelIp && Buffer.compare(a.bytes, b.bytes) === 0;
  if (a instanceof CelCidr) return b instanceof CelCidr && a.bits === b.bits && Buffer.compare(a.bytes, b.bytes) === 0;
  if (a instanceof CelQuantity) return b instanceof CelQuantity && compareQuantities(a, b) === 0;
  if (a instanceof CelUrl) return b instanceof CelUrl && a.text === b.text;
  if (a instanceof CelSemver) return b instanceof CelSemver && compareSemver(a, b) === 0;
  if (a instanceof CelHandle) return a === b;
  return a instanceof CelFormat && b instanceof CelFormat && a.name === b.name;
}

function optionalsEqual(a: CelOptional, b: CelOptional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equals(a.value, b.value);
}

function listsEqual(a: ListValue, b: ListValue): boolean {
  if (a.size !== b.size) return false;
  if (a instanceof RawList && b instanceof RawList) {
    if (a.raw === b.raw) return true;
    if (a.decl === b.decl && a.decl.plain) return deepEqual(a.raw, b.raw);
  }
  if (a.listType === "set") return setsEqual(a, b);
  if (a.listType === "map") return mapListsEqual(a, b);
  for (let i = 0; i < a.size; i++) if (!equals(a.at(i), b.at(i))) return false;
  return true;
}

function setsEqual(a: ListValue, b: ListValue): boolean {
  if (a instanceof RawList && b instanceof RawList && a.decl.elem?.plain === true) {
    const known = new Set(b.raw.map(stableStringify));
    return a.raw.every((item) => known.has(stableStringify(item)));
  }
  const items = b.values();
  return a.values().every((x) => items.some((y) => equals(x, y)));
}

function mapListsEqual(a: ListValue, b: ListValue): boolean {
  const keyOf = (item: Value): string =>
    item instanceof RawObject ? a.mapKeys.map((key) => stableStringify(item.raw[key] ?? null)).join() : "";
  const known = new Map(b.values().map((item) => [keyOf(item), item]));
  return a.values().every((item) => {
    const other = known.get(keyOf(item));
    return other !== undefined && equals(item, other);
  });
}

/** Whether two items of a map list have the same key. */
export function sameKeys(a: Value, b: Value, keys: readonly string[]): boolean {
  if (!(a instanceof RawObject) || !(b instanceof RawObject)) return false;
  return keys.every((key) => a.raw[key] === b.raw[key]);
}

function mapsEqual(a: MapValue, b: MapValue): boolean {
  if (a instanceof RawObject && b instanceof RawObject) return rawObjectsEqual(a, b, equals);
  if (a instanceof RawMap && b instanceof RawMap) {
    if (a.raw === b.raw) return true;
    if (a.decl === b.decl && a.decl.plain) return deepEqual(a.raw, b.raw);
  }
  if (a.size !== b.size) return false;
  return a.keys().every((key) => {
    const left = a.get(key);
    const right = b.get(key);
    return left !== undefined && right !== undefined && equals(left, right);
  });
}

/** A value as a number, undefined when it is none. */
export function numberOf(value: Value): bigint | number | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof CelUint ? value.value : undefined;
}

/** Compares numbers of any type exactly; NaN compares as unequal (undefined). */
export function compareNumbers(a: Value, b: Value): number | undefined {
  const x = numberOf(a);
  const y = numberOf(b);
  if (x === undefined || y === undefined || Number.isNaN(x) || Number.isNaN(y)) return undefined;
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Orders values of one comparable type; throws for others. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") return compareStrings(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (
    (a instanceof CelTimestamp && b instanceof CelTimestamp) ||
    (a instanceof CelDuration && b instanceof CelDuration)
  ) {
    return a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0;
  }
  const order = compareNumbers(a, b);
  if (order === undefined) throw new CelError("no such overload");
  return order;
}

/** Orders texts by code points, as Go orders UTF-8; UTF-16 order differs only when surrogates occur. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  if (/[\ud800-\udfff]/.test(a) || /[\ud800-\udfff]/.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

/** Orders quantities by value. */
export function compareQuantities(a: CelQuantity, b: CelQuantity): number {
  const scale = Math.min(a.scale, b.scale);
  const x = a.digits * 10n ** BigInt(a.scale - scale);
  const y = b.digits * 10n ** BigInt(b.scale - scale);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Orders semantic versions; a pre-release is before its release. */
export function compareSemver(a: CelSemver, b: CelSemver): number {
  for (const [x, y] of [
    [a.major, b.major],
    [a.minor, b.minor],
    [a.patch, b.patch],
  ] as const) {
    if (x !== y) return x < y ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length);
  for (let i = 0; i < Math.min(a.pre.length, b.pre.length); i++) {
    const [x = "", y = ""] = [a.pre[i], b.pre[i]];
    if (x === y) continue;
    const [numeric, other] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (numeric && other) return BigInt(x) < BigInt(y) ? -1 : 1;
    if (numeric !== other) return numeric ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return Math.sign(a.pre.length - b.pre.length);
}
