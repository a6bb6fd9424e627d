import { deepCopy, deepEqual, isObject } from "@capstan/apimachinery";
import type { TemplateFunction } from "./functions.ts";
import { formatValue, truthy } from "./go-values.ts";
import { TemplateError } from "./lexer.ts";

type Dict = Record<string, unknown>;

function list(value: unknown): unknown[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new TemplateError(`a ${kindOf(value)} is not a list`);
  return value;
}

function dict(value: unknown): Dict {
  if (value === null || value === undefined) return {};
  if (!isObject(value)) throw new TemplateError(`a ${kindOf(value)} is not a dict`);
  return value;
}

/** Without a prototype, so that no key has a meaning of its own. */
function made(entries: Iterable<[string, unknown]>): Dict {
  const result = Object.create(null) as Dict;
  for (const [key, value] of entries) result[key] = value;
  return result;
}

function merged(...dicts: unknown[]): Dict {
  const result = made([]);
  for (const one of dicts.map(dict))
    for (const [key, value] of Object.entries(one)) {
      const present = result[key];
      if (present === undefined) result[key] = deepCopy(value);
      else if (isObject(present) && isObject(value)) result[key] = merged(present, value);
    }
  return result;
}

/** Functions of sprig over lists and dicts; none changes its arguments. */
export const collectionFunctions: Record<string, TemplateFunction> = {
  list: (...values: unknown[]) => values,
  tuple: (...values: unknown[]) => values,
  first: (value: unknown) => list(value)[0],
  last: (value: unknown) => list(value).at(-1),
  rest: (value: unknown) => list(value).slice(1),
  initial: (value: unknown) => list(value).slice(0, -1),
  append: (value: unknown, item: unknown) => [...list(value), item],
  prepend: (value: unknown, item: unknown) => [item, ...list(value)],
  concat: (...lists: unknown[]) => lists.flatMap(list),
  reverse: (value: unknown) => list(value).toReversed(),
  uniq: (value: unknown) =>
    list(value).filter((item, i, all) => all.findIndex((other) => deepEqual(other, item)) === i),
  has: (item: unknown, value: unknown) => list(value).some((other) => deepEqual(other, item)),
  without: (value: unknown, ...items: unknown[]) =>
    list(value).filter((one) => !items.some((item) => deepEqual(item, one))),
  compact: (value: unknown) => list(value).filter(truthy),
  slice: (value: unknown, from = 0, to?: number) => list(value).slice(from, to),
  sortAlpha: (value: unknown) => list(value).map(formatValue).sort(),
  toStrings: (value: unknown) => list(value).map(formatValue),
  dict: (...pairs: unknown[]) => {
    const entries: [string, unknown][] = [];
    for (let i = 0; i < pairs.length; i += 2) entries.push([formatValue(pairs[i]), pairs[i + 1] ?? ""]);
    return made(entries);
  },
  get: (value: unknown, key: string) => (Object.hasOwn(dict(value), key) ? dict(value)[key] : ""),
  set: (value: unknown, key: string, item: unknown) => made([...Object.entries(dict(value)), [key, item]]),
  unset: (value: unknown, key: string) => made(Object.entries(dict(value)).filter(([name]) => name !== key)),
  hasKey: (value: unknown, key: string) => Object.hasOwn(dict(value), key),
  keys: (...dicts: unknown[]) => dicts.flatMap((one) => Object.keys(dict(one)).sort()),
  values: (value: unknown) =>
    Object.keys(dict(value))
      .sort()
      .map((key) => dict(value)[key]),
  pick: (value: unknown, ...names: string[]) =>
    made(Object.entries(dict(value)).filter(([name]) => names.includes(name))),
  omit: (value: unknown, ...names: string[]) =>
    made(Object.entries(dict(value)).filter(([name]) => !names.includes(name))),
  pluck: (name: string, ...dicts: unknown[]) =>
    dicts.map(dict).flatMap((one) => (Object.hasOwn(one, name) ? [one[name]] : [])),
  merge: merged,
  mergeOverwrite: (...dicts: unknown[]) => merged(...dicts.toReversed()),
  deepCopy: (value: unknown) => deepCopy(value),
  deepEqual: (a: unknown, b: unknown) => deepEqual(a, b),
  kindOf: (value: unknown) => kindOf(value),
  kindIs: (kind: string, value: unknown) => kindOf(value) === kind,
  typeOf: (value: unknown) => kindOf(value),
};

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "invalid";
  if (Array.isArray(value)) return "slice";
  if (isObject(value)) return "map";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}
