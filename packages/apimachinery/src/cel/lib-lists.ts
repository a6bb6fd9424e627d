import { compareValues, equals } from "./equality.ts";
import { define } from "./functions.ts";
import { int } from "./lib-standard.ts";
import {
  ArrayList,
  CelDuration,
  CelError,
  CelOptional,
  CelUint,
  EntryMap,
  keyText,
  ListValue,
  MapValue,
  type Value,
} from "./values.ts";

const list = (v: Value | undefined): ListValue => v as ListValue;
const items = (v: Value | undefined): Value[] => (v as ListValue).values();
const COMPARABLE = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];

for (const type of COMPARABLE) {
  define("isSorted", `list_${type}_is_sorted_bool`, `list<${type}>.():bool`, (v) => {
    const all = items(v);
    return all.every((item, k) => k === 0 || compareValues(all[k - 1] ?? null, item) <= 0);
  });
  define("min", `list_${type}_min_${type}`, `list<${type}>.():${type}`, (v) =>
    extreme(items(v), "min", (order) => order < 0),
  );
  define("max", `list_${type}_max_${type}`, `list<${type}>.():${type}`, (v) =>
    extreme(items(v), "max", (order) => order > 0),
  );
  define(
    "sort",
    `list_${type}_sort`,
    `list<${type}>.():list<${type}>`,
    (v) => new ArrayList(items(v).sort(compareValues)),
  );
  define("@sortByAssociatedKeys", `list_${type}_sortByAssociatedKeys`, `list<A>.(list<${type}>):list<A>`, (v, keys) => {
    const by = items(keys);
    const order = by.map((_, k) => k).sort((a, b) => compareValues(by[a] ?? null, by[b] ?? null));
    const all = items(v);
    return new ArrayList(order.map((k) => all[k] ?? null));
  });
}

function extreme(all: readonly Value[], name: string, better: (order: number) => boolean): Value {
  let best = all[0];
  if (best === undefined) throw new CelError(`${name} called on empty list`);
  for (const item of all) if (better(compareValues(item, best))) best = item;
  return best;
}

define("sum", "list_int_sum_int", "list<int>.():int", (v) =>
  items(v).reduce<bigint>((sum, x) => int(sum + (x as bigint)), 0n),
);
define(
  "sum",
  "list_uint_sum_uint",
  "list<uint>.():uint",
  (v) => new CelUint(items(v).reduce<bigint>((sum, x) => sum + (x as CelUint).value, 0n)),
);
define("sum", "list_double_sum_double", "list<double>.():double", (v) =>
  items(v).reduce<number>((sum, x) => sum + (x as number), 0),
);
define(
  "sum",
  "list_duration_sum_duration",
  "list<duration>.():duration",
  (v) => new CelDuration(items(v).reduce<bigint>((sum, x) => int(sum + (x as CelDuration).ns), 0n)),
);
define("indexOf", "list_a_index_of_int", "list<A>.(A):int", (v, item) =>
  BigInt(items(v).findIndex((x) => equals(x, item as Value))),
);
define("lastIndexOf", "list_a_last_index_of_int", "list<A>.(A):int", (v, item) => {
  const all = items(v);
  for (let k = all.length - 1; k >= 0; k--) if (equals(all[k] ?? null, item as Value)) return BigInt(k);
  return -1n;
});

define("distinct", "list_distinct", "list<A>.():list<A>", (v) => {
  const found: Value[] = [];
  const seen = new Set<string>();
  for (const item of items(v)) {
    const scalar = item !== null && (typeof item !== "object" || item instanceof CelUint);
    if (scalar) {
      const key = keyText(item);
      if (seen.has(key)) continue;
      seen.add(key);
    } else if (found.some((known) => equals(known, item))) continue;
    found.push(item);
  }
  return new ArrayList(found);
});
define("flatten", "list_flatten", "list<list<A>>.():list<A>", (v) => new ArrayList(flatten(items(v), 1n)));
define("flatten", "list_flatten_int", "list<dyn>.(int):list<dyn>", (v, depth) => {
  if ((depth as bigint) < 0n) throw new CelError("level must be non-negative");
  return new ArrayList(flatten(items(v), depth as bigint));
});

function flatten(all: readonly Value[], depth: bigint): Value[] {
  const found: Value[] = [];
  for (const item of all) {
    if (item instanceof ListValue && depth > 0n)
      for (const inner of flatten(item.values(), depth - 1n)) found.push(inner);
    else found.push(item);
  }
  return found;
}

const MAX_RANGE = 1_000_000n;
define("lists.range", "lists_range", "(int):list<int>", (count) => {
  if ((count as bigint) > MAX_RANGE) throw new CelError("range is too long");
  return new ArrayList(Array.from({ length: Math.max(Number(count), 0) }, (_, k) => BigInt(k)));
});
define("reverse", "list_reverse", "list<A>.():list<A>", (v) => new ArrayList(items(v).reverse()));
define("slice", "list_slice", "list<A>.(int,int):list<A>", (v, from, to) => {
  const [start, end] = [Number(from), Number(to)];
  if (start < 0 || end < 0) throw new CelError(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end)
    throw new CelError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > list(v).size) throw new CelError(`cannot slice(${start}, ${end}), list is length ${list(v).size}`);
  return new ArrayList(items(v).slice(start, end));
});
define(
  "first",
  "list_first",
  "list<A>.():optional<A>",
  (v) => new CelOptional(list(v).size === 0 ? undefined : list(v).at(0)),
);
define(
  "last",
  "list_last",
  "list<A>.():optional<A>",
  (v) => new CelOptional(list(v).size === 0 ? undefined : list(v).at(list(v).size - 1)),
);

const has = (all: readonly Value[], item: Value): boolean => all.some((known) => equals(known, item));
define("sets.contains", "list_sets_contains_list", "(list<A>,list<A>):bool", (a, b) => {
  const all = items(a);
  return items(b).every((item) => has(all, item));
});
define("sets.equivalent", "list_sets_equivalent_list", "(list<A>,list<A>):bool", (a, b) => {
  const [left, right] = [items(a), items(b)];
  return right.every((item) => has(left, item)) && left.every((item) => has(right, item));
});
define("sets.intersects", "list_sets_intersects_list", "(list<A>,list<A>):bool", (a, b) => {
  const right = items(b);
  return items(a).some((item) => has(right, item));
});

const opt = (v: Value | undefined): CelOptional => v as CelOptional;
define("optional.of", "optional_of", "(V):optional<V>", (v) => new CelOptional(v as Value));
define("optional.none", "optional_none", "():optional<V>", () => new CelOptional(undefined));
define(
  "optional.ofNonZeroValue",
  "optional_ofNonZeroValue",
  "(V):optional<V>",
  (v) => new CelOptional(isZero(v as Value) ? undefined : (v as Value)),
);
define("value", "optional_value", "optional<V>.():V", (v) => {
  const value = opt(v).value;
  if (value === undefined) throw new CelError("optional.none() dereference");
  return value;
});
define("hasValue", "optional_hasValue", "optional<V>.():bool", (v) => opt(v).value !== undefined);
define("or", "optional_or_optional", "optional<V>.(optional<V>):optional<V>", (a, b) =>
  opt(a).value === undefined ? opt(b) : opt(a),
);
define("orValue", "optional_orValue_value", "optional<V>.(V):V", (a, b) => opt(a).value ?? (b as Value));
define("optional.unwrap", "optional_unwrap", "(list<optional<V>>):list<V>", (v) => unwrap(items(v)));
define("unwrapOpt", "optional_unwrapOpt", "list<optional<V>>.():list<V>", (v) => unwrap(items(v)));

function unwrap(all: readonly Value[]): Value {
  return new ArrayList(
    all.flatMap((item) => (item instanceof CelOptional && item.value !== undefined ? [item.value] : [])),
  );
}

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === "") return true;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof ListValue || value instanceof EntryMap || value instanceof MapValue) return value.size === 0;
  return value instanceof CelUint && value.value === 0n;
}

function lookup(from: Value, key: Value): CelOptional {
  if (from instanceof CelOptional) return from.value === undefined ? from : lookup(from.value, key);
  if (from instanceof ListValue) {
    const index = Number(key);
    return new CelOptional(index >= 0 && index < from.size ? from.at(index) : undefined);
  }
  if (from instanceof MapValue) return new CelOptional(from.get(key));
  throw new CelError("no such overload");
}

for (const fn of ["_[?_]", "_[_]"]) {
  const name = fn === "_[_]" ? "index" : "optindex_optional";
  if (fn === "_[?_]") {
    define(fn, "list_optindex_optional_int", "(list<V>,int):optional<V>", (a, b) => lookup(a as Value, b as Value));
    define(fn, "map_optindex_optional_value", "(map<K,V>,K):optional<V>", (a, b) => lookup(a as Value, b as Value));
  }
  define(fn, `optional_list_${name}_int`, "(optional<list<V>>,int):optional<V>", (a, b) =>
    lookup(a as Value, b as Value),
  );
  define(fn, `optional_map_${name}_value`, "(optional<map<K,V>>,K):optional<V>", (a, b) =>
    lookup(a as Value, b as Value),
  );
}
