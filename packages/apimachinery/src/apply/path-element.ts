import { badRequest } from "../errors.ts";
import { goJson, goQuote } from "../go-text.ts";
import { isObject, type JsonObject } from "../json.ts";
import type { ListType } from "./apply-type.ts";

/** One step of a field path in the notation of fieldsV1: `f:name`, `k:{"name":"x"}`, `v:"x"`, `i:0`. */
export type PathElement = string;

const MAX_INTERNED = 20_000;
const MAX_INTERNED_KEYS = 1_000;
const interned = new Map<string, PathElement>();

/** The step to a struct field or map key. Names repeat from object to object: keeping the text saves hashing it again. */
export function fieldElement(name: string): PathElement {
  const known = interned.get(name);
  if (known !== undefined) return known;
  const element = `f:${name}`;
  if (name.length > 64) return element;
  if (interned.size >= MAX_INTERNED) interned.clear();
  interned.set(name, element);
  return element;
}

/** The step to an item of a set or map list; a text says why the item has none. */
export function itemElement(list: ListType, item: unknown): PathElement | { problem: string } {
  if (list.keys === undefined) return setElement(item);
  if (item === null) return { problem: "associative list with keys may not have a null element" };
  if (!isObject(item)) return { problem: "associative list with keys may not have non-map elements" };
  const only = list.keys.length === 1 ? list.keys[0] : undefined;
  const single = only === undefined ? undefined : item[only];
  // The common case: one key with a plain string.
  if (only !== undefined && typeof single === "string" && Object.hasOwn(item, only)) {
    return list.interned.get(single) ?? singleKeyElement(list, only, single);
  }
  return keyElement(list, list.keys, item);
}

function singleKeyElement(list: ListType, key: string, value: string): PathElement {
  const element = `k:{${goJson(key)}:${goJson(value)}}`;
  if (value.length > 64) return element;
  if (list.interned.size >= MAX_INTERNED_KEYS) list.interned.clear();
  list.interned.set(value, element);
  return element;
}

function keyElement(list: ListType, keys: readonly string[], item: JsonObject): PathElement | { problem: string } {
  const parts: string[] = [];
  for (const key of keys.toSorted()) {
    const value = Object.hasOwn(item, key) ? item[key] : list.keyDefault(key);
    if (value !== undefined) parts.push(`${goJson(key)}:${goJson(value)}`);
  }
  if (parts.length === 0) {
    const names = keys.map(goQuote).join(" ");
    return {
      problem: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    };
  }
  return `k:{${parts.join(",")}}`;
}

function setElement(item: unknown): PathElement | { problem: string } {
  if (item === null || item === undefined) {
    return { problem: "associative list without keys has an element that's an explicit null" };
  }
  if (Array.isArray(item)) return { problem: "not supported: associative list with lists as elements" };
  if (typeof item === "object") {
    return { problem: "associative list without keys has an element that's a map type" };
  }
  return `v:${goJson(item)}`;
}

/** How conflicts print a step: `.name`, `[name="x"]`, `[="x"]`, `[0]`. */
export function printElement(element: PathElement): string {
  const text = element.slice(2);
  switch (element.slice(0, 2)) {
    case "f:":
      return `.${text}`;
    case "k:": {
      const fields = Object.entries(JSON.parse(text) as JsonObject);
      return `[${fields.map(([name, value]) => `${name}=${printValue(value)}`).join(",")}]`;
    }
    case "v:":
      return `[=${printValue(JSON.parse(text))}]`;
    default:
      return `[${text}]`;
  }
}

function printValue(value: unknown): string {
  return typeof value === "string" ? goQuote(value) : goJson(value);
}

/** The same step in canonical spelling; throws BadRequest when the text is none. */
export function canonicalElement(text: string): PathElement {
  const rest = text.slice(2);
  switch (text.slice(0, 2)) {
    case "f:":
      return text;
    case "i:":
      if (/^\d{1,9}$/.test(rest)) return text;
      break;
    case "v:":
    case "k:": {
      const value = parse(rest);
      if (value !== undefined && (text.startsWith("v:") || isObject(value)))
        return `${text.slice(0, 2)}${goJson(value)}`;
      break;
    }
    default:
  }
  throw badRequest(
    `fieldsV1: ${goQuote(text)} is no path element: use "f:<name>", "k:<keys>", "v:<value>" or "i:<index>"`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
