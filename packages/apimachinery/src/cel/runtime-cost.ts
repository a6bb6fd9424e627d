import { runeCount } from "./lib-standard.ts";
import { CelFormat, CelOptional, GrowingList, ListValue, MapValue, type Value } from "./values.ts";

/** Counts cost units of one evaluation and stops it at the limit. */
export type CallCost = (args: readonly Value[], result: Value) => number;

const STRING_FACTOR = 0.1;
const REGEX_FACTOR = 0.25;

/** The size that costs are proportional to. */
export function actualSize(value: Value | undefined): number {
  if (typeof value === "string") return value.length < 64 ? runeCount(value) : value.length;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof CelOptional && value.value !== undefined) return actualSize(value.value);
  return 1;
}

const traverse = (value: Value | undefined, factor = STRING_FACTOR): number => Math.ceil(actualSize(value) * factor);
const first: CallCost = (args) => traverse(args[0]);
const twice: CallCost = (args) => traverse(args[0], 2 * STRING_FACTOR);
const regex: CallCost = (args) =>
  Math.ceil((1 + actualSize(args[0])) * STRING_FACTOR) * Math.ceil(actualSize(args[1]) * REGEX_FACTOR);
const smaller: CallCost = (args) => Math.ceil(Math.min(actualSize(args[0]), actualSize(args[1])) * STRING_FACTOR);
const squared: CallCost = (args) => 10 + actualSize(args[0]) * actualSize(args[0]) * 2;
const allocate: CallCost = (_args, result) => 10 + actualSize(result);

function traversal(value: Value): number {
  if (typeof value === "string" || value instanceof Uint8Array) return Math.floor(actualSize(value) * STRING_FACTOR);
  if (value instanceof ListValue) return value.values().reduce<number>((sum, item) => sum + traversal(item), 0);
  if (value instanceof MapValue) {
    return value.keys().reduce<number>((sum, key) => sum + traversal(key) + traversal(value.get(key) ?? null), 0);
  }
  return 1;
}

const scan: CallCost = (args) => traversal(args[0] ?? null);

const BY_FUNCTION: Readonly<Record<string, CallCost>> = {
  isSorted: scan,
  sum: scan,
  max: scan,
  min: scan,
  indexOf: scan,
  lastIndexOf: scan,
  url: first,
  lowerAscii: first,
  upperAscii: first,
  substring: first,
  trim: first,
  replace: twice,
  split: twice,
  join: (_args, result) => traverse(result, 2 * STRING_FACTOR),
  find: regex,
  findAll: regex,
  cidr: first,
  isIP: first,
  isCIDR: first,
  "ip.isCanonical": twice,
  quantity: first,
  isQuantity: first,
  semver: first,
  isSemver: first,
  containsIP: (args) => 4 + traverse(args[1]),
  containsCIDR: (args) => 6 + traverse(args[1]),
  validate: (args) =>
    args[0] instanceof CelFormat
      ? Math.ceil((1 + actualSize(args[1])) * STRING_FACTOR) * Math.ceil(128 * REGEX_FACTOR)
      : 1,
  check: () => 350_000,
  fieldSelector: (args) => 10 + traverse(args[1]) + actualSize(args[1]) * 25,
  labelSelector: (args) => 10 + traverse(args[1]) + actualSize(args[1]) * 25,
  distinct: squared,
  sort: squared,
  "@sortByAssociatedKeys": squared,
  slice: allocate,
  flatten: allocate,
  "lists.range": allocate,
  reverse: allocate,
  "sets.contains": (args) => actualSize(args[0]) * actualSize(args[1]),
  "sets.equivalent": (args) => 2 * actualSize(args[0]) * actualSize(args[1]),
  "sets.intersects": (args) => actualSize(args[0]) * actualSize(args[1]),
};

const BY_OVERLOAD: Readonly<Record<string, CallCost>> = {
  string_to_ip: first,
  starts_with_string: first,
  ends_with_string: first,
  string_to_bytes: first,
  bytes_to_string: first,
  strings_quote: first,
  string_format: first,
  // Upstream charges 1; copying long lists again and again must not be free.
  add_list: (args, result) => (args[0] instanceof GrowingList ? 1 : 1 + Math.floor(actualSize(result) / 100)),
  in_list: (args) => actualSize(args[1]),
  less_string: smaller,
  greater_string: smaller,
  less_equals_string: smaller,
  greater_equals_string: smaller,
  less_bytes: smaller,
  greater_bytes: smaller,
  less_equals_bytes: smaller,
  greater_equals_bytes: smaller,
  equals: smaller,
  not_equals: smaller,
  add_string: (args) => Math.ceil((actualSize(args[0]) + actualSize(args[1])) * STRING_FACTOR),
  add_bytes: (args) => Math.ceil((actualSize(args[0]) + actualSize(args[1])) * STRING_FACTOR),
  matches_string: regex,
  matches: regex,
  contains_string: (args) => traverse(args[0]) * traverse(args[1]),
};

/** The cost function of a call, undefined when every call costs 1. */
export function callCost(fn: string, overload: string): CallCost | undefined {
  if (Object.hasOwn(BY_FUNCTION, fn)) return BY_FUNCTION[fn];
  return Object.hasOwn(BY_OVERLOAD, overload) ? BY_OVERLOAD[overload] : undefined;
}
