import { MAX_DEPTH } from "@capstan/apimachinery";

/** A shorter text cannot hold too many values. */
const LONG_TEXT = 40_000;
const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;

/**
 * Most values (fields, items) of one object, field ownership included. Every step of a write walks over all of them; a kube-apiserver
 * works on a hundred times as many until the request times out.
 */
const MAX_VALUES = 20_000;
/** Schemas are long, and their fields are not owned one by one; a JSON patch has four values per operation. */
const MAX_SIMPLE_VALUES = 60_000;
const SIMPLE = new Set(["CustomResourceDefinition", "JSON patch"]);

/** Most values of an object of this kind, or of a JSON patch. */
export function maxValues(kind: string): number {
  return SIMPLE.has(kind) ? MAX_SIMPLE_VALUES : MAX_VALUES;
}

/** Whether a long JSON text is nested too deep or holds too many values: parsing a million of them would hold up all other requests. */
export function structureProblem(text: string, most: number, long = LONG_TEXT): "deep" | "many" | undefined {
  if (text.length < long) return undefined;
  let depth = 0;
  let values = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 91 || c === 123) {
      values++;
      if (++depth > MAX_DEPTH + 1) return "deep";
    } else if (c === COMMA) values++;
    else if (c === 93 || c === 125) depth--;
    else if (c === QUOTE) {
      for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++;
    }
  }
  return values > most ? "many" : undefined;
}

/** Whether a parsed value holds too many values. */
export function hasTooManyValues(value: unknown, most: number): boolean {
  const waiting: unknown[] = [value];
  let values = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    const inner: unknown[] = Array.isArray(next) ? next : Object.values(next);
    values += inner.length;
    if (values > most) return true;
    for (const item of inner) if (typeof item === "object") waiting.push(item);
  }
  return false;
}

/** Number of object keys in a parsed value; undefined when it is nested too deep to be worked on. */
export function countKeys(value: unknown, depth = 0): number | undefined {
  if (typeof value !== "object" || value === null) return 0;
  if (depth > MAX_DEPTH) return undefined;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item !== "object" || item === null) continue;
      const inner = countKeys(item, depth + 1);
      if (inner === undefined) return undefined;
      count += inner;
    }
    return count;
  }
  for (const key of Object.keys(value)) {
    count++;
    const item: unknown = (value as Record<string, unknown>)[key];
    if (typeof item !== "object" || item === null) continue;
    const inner = countKeys(item, depth + 1);
    if (inner === undefined) return undefined;
    count += inner;
  }
  return count;
}

/**
 * Complaints about keys that occur twice in one object, e.g. `duplicate field "spec.a"`; JSON.parse keeps the last silently. The
 * caller passes the number of keys that survived parsing: when as many `":` stand in the text nothing was lost and no scan is needed.
 */
export function duplicateFields(text: string, keys: number): string[] {
  let colons = 0;
  for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2)) colons++;
  if (colons === keys) return [];
  const found = new Set<string>();
  scan(text, (frame, key, repeated) => {
    if (repeated) found.add(`duplicate field ${JSON.stringify(pathOf(frame, key))}`);
  });
  return [...found];
}

/** Paths of a longer text may add up to megabytes. */
const MAX_PLACED_TEXT = 32 * 1024;

/** Where the fields of a document stand, and where they are repeated. */
export interface FieldPlaces {
  readonly first: ReadonlyMap<string, number>;
  readonly repeated: ReadonlyMap<string, number>;
}

/** The places of all fields by their paths, to list complaints in the order of the document; undefined for long texts. */
export function fieldPlaces(text: string): FieldPlaces | undefined {
  if (text.length > MAX_PLACED_TEXT) return undefined;
  const first = new Map<string, number>();
  const again = new Map<string, number>();
  scan(text, (frame, key, repeated, at) => {
    const path = pathOf(frame, key);
    const places = repeated ? again : first;
    if (!places.has(path)) places.set(path, at);
  });
  return { first, repeated: again };
}

interface Frame {
  readonly array: boolean;
  readonly path: string;
  readonly seen: Set<string>;
  index: number;
  key: string;
}

/** Walks valid JSON text token by token and shows every key; only structure and keys matter. */
function scan(text: string, see: (frame: Frame, key: string, repeated: boolean, at: number) => void): void {
  const stack: Frame[] = [];
  let expectKey = false;
  for (let i = 0; i < text.length; i++) {
    const top = stack[stack.length - 1];
    switch (text.charAt(i)) {
      case "{":
      case "[": {
        const array = text.charAt(i) === "[";
        stack.push({ array, path: childPath(top), seen: new Set(), index: 0, key: "" });
        expectKey = !array;
        break;
      }
      case "}":
      case "]":
        stack.pop();
        expectKey = false;
        break;
      case ",":
        if (top !== undefined && top.array) top.index++;
        expectKey = top !== undefined && !top.array;
        break;
      case '"': {
        const end = stringEnd(text, i);
        if (expectKey && top !== undefined) {
          const key = String(JSON.parse(text.slice(i, end + 1)));
          see(top, key, top.seen.has(key), i);
          top.seen.add(key);
          top.key = key;
          expectKey = false;
        }
        i = end;
        break;
      }
      default:
        break;
    }
  }
}

function pathOf(frame: Frame, key: string): string {
  return frame.path === "" ? key : `${frame.path}.${key}`;
}

function childPath(parent: Frame | undefined): string {
  if (parent === undefined) return "";
  if (parent.array) return `${parent.path}[${parent.index}]`;
  return pathOf(parent, parent.key);
}

function stringEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const c = text[i];
    if (c === "\\") i++;
    else if (c === '"') return i;
  }
  return text.length - 1;
}
