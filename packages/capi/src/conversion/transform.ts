import { deepCopy, isObject, type JsonObject } from "@capstan/apimachinery";
import { at, change, put, take } from "./paths.ts";
import type { ConversionContext, Rule } from "./rules.ts";

/** Old to new, without regard to what is lost. The input stays as it is. */
export function transformUp(old: JsonObject, rules: readonly Rule[], context: ConversionContext): JsonObject {
  const object = deepCopy(old);
  const taken: [path: string, value: unknown][] = [];
  for (const rule of rules) {
    if (rule.type === "move") {
      const value = take(object, rule.old);
      if (value !== undefined) taken.push([rule.new, rule.codec === undefined ? value : rule.codec.up(value, context)]);
    } else if (rule.type === "oldOnly" || rule.type === "computed") take(object, rule.path);
  }
  putAll(object, taken);
  for (const rule of rules) {
    const value = rule.type === "copied" ? at(object, rule.from) : undefined;
    if (rule.type === "copied" && value !== undefined) put(object, rule.path, deepCopy(value));
  }
  return object;
}

/** New to old, without regard to what is lost. The input stays as it is. */
export function transformDown(stored: JsonObject, rules: readonly Rule[], context: ConversionContext): JsonObject {
  const object = deepCopy(stored);
  const taken: [path: string, value: unknown][] = [];
  for (const rule of rules) {
    if (rule.type === "move") {
      const value = take(object, rule.new);
      if (value !== undefined)
        taken.push([rule.old, rule.codec === undefined ? value : rule.codec.down(value, context)]);
    } else if (rule.type === "newOnly" || rule.type === "copied") take(object, rule.path);
    else if (rule.type === "computed") {
      const value = rule.value(stored);
      if (value !== undefined) taken.push([rule.path, value]);
    }
  }
  putAll(object, taken);
  return object;
}

/** Outer objects first: what belongs into them comes after. */
function putAll(object: JsonObject, taken: readonly [path: string, value: unknown][]): void {
  for (const [path, value] of [...taken].reverse()) if (value !== undefined) put(object, path, value);
}

/** The old object as it comes back from the stored one when nothing is lost. Changes its input. */
export function canonicalize(old: JsonObject, rules: readonly Rule[], context: ConversionContext): void {
  for (const rule of rules) {
    if (rule.type !== "move") continue;
    const canonical = rule.codec?.canonical;
    if (canonical !== undefined) change(old, rule.old, (value) => canonical(value, context));
  }
}

/** Converts each object of a list by rules of its own; other values stay. */
export function mapObjects(list: unknown, convert: (item: JsonObject) => JsonObject): unknown {
  return Array.isArray(list) ? list.map((item: unknown) => (isObject(item) ? convert(item) : item)) : undefined;
}
