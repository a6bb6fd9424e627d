import { deepEqual, isObject } from "../json.ts";
import { type SchemaNode, TYPE_BITS } from "./node.ts";

const MAX_FLOAT32 = 3.4028234663852886e38;

/**
 * Whether a value passes all value validations of a schema. Allocates nothing for ordinary schemas: the texts of errors
 * are made in a second pass (validate.ts) only when this says no. Fields that are the very value they were in `old` are passed
 * over: errors on what did not change are forgiven.
 */
export function isValid(node: SchemaNode, value: unknown, old?: unknown): boolean {
  if (value === null || value === undefined) {
    return (node.types === 0 || node.nullable) && node.enumValues === undefined;
  }
  if (node.hasJunctors && !junctorsHold(node, value)) return false;
  if (node.enumValues !== undefined && !inEnum(node, value)) return false;
  if (typeof value === "string") return stringOk(node, value);
  if (typeof value === "number") return numberOk(node, value);
  if (typeof value === "boolean") return kindOk(node, TYPE_BITS.boolean);
  return Array.isArray(value) ? arrayOk(node, value) : objectOk(node, value as Record<string, unknown>, old);
}

/** Whether a value equals one of the enumerated ones. */
export function inEnum(node: SchemaNode, value: unknown): boolean {
  if (node.enumStrings !== undefined) return typeof value === "string" && node.enumStrings.has(value);
  return (node.enumValues ?? []).some((allowed) => allowed !== null && deepEqual(allowed, value));
}

/** Whether strings and lists are let through because the schema has a format (kube-openapi skips their type then). */
export function formatExempt(node: SchemaNode): boolean {
  return node.format !== "" && (node.types & (TYPE_BITS.number | TYPE_BITS.integer)) === 0;
}

function kindOk(node: SchemaNode, bit: number): boolean {
  if ((node.types & bit) !== 0) return true;
  return node.types === 0 && node.format === "";
}

function stringOk(node: SchemaNode, value: string): boolean {
  if ((node.types & TYPE_BITS.string) === 0 && node.types !== 0 && !formatExempt(node)) return false;
  const schema = node.schema;
  if (schema.maxLength !== undefined && value.length > schema.maxLength && longerThan(value, schema.maxLength)) {
    return false;
  }
  if (schema.minLength !== undefined && !longerThan(value, schema.minLength - 1)) return false;
  if (node.pattern !== undefined && !node.pattern(value)) return false;
  if (node.patternError !== undefined) return false;
  return node.checkFormat === undefined || node.checkFormat(value);
}

/** Whether a text has more than `limit` Unicode code points. */
export function longerThan(text: string, limit: number): boolean {
  if (limit < 0) return true;
  if (text.length <= limit) return false;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0xdc00 || code > 0xdfff) count++;
    if (count > limit) return true;
  }
  return false;
}

/** Whether a number is one of the node's type and format. */
export function inRange({ schema, format }: SchemaNode, value: number): boolean {
  if (schema.type !== "integer") return format !== "float" || Math.abs(value) <= MAX_FLOAT32;
  if (!Number.isInteger(value)) return false;
  return format === "int32" ? value >= -(2 ** 31) && value < 2 ** 31 : value >= -(2 ** 63) && value < 2 ** 63;
}

function numberOk(node: SchemaNode, value: number): boolean {
  const bit = Number.isInteger(value) ? TYPE_BITS.integer | TYPE_BITS.number : TYPE_BITS.number;
  if (!kindOk(node, bit) || !inRange(node, value)) return false;
  if (!node.hasNumberLimits) return true;
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum } = node.schema;
  if (multipleOf !== undefined && !isMultipleOf(value, multipleOf)) return false;
  if (minimum !== undefined) {
    const limit = limitFor(value, minimum);
    if (exclusiveMinimum === true ? value <= limit : value < limit) return false;
  }
  if (maximum !== undefined) {
    const limit = limitFor(value, maximum);
    if (exclusiveMaximum === true ? value >= limit : value > limit) return false;
  }
  return true;
}

/** kube-openapi cuts a limit to an integer when the value is one. */
export function limitFor(value: number, limit: number): number {
  return Number.isInteger(value) ? Math.trunc(limit) : limit;
}

/** Whether a value is a multiple of a factor, computed as kube-openapi does. */
export function isMultipleOf(value: number, factor: number): boolean {
  if (Number.isInteger(value)) {
    const whole = Math.trunc(factor);
    return whole > 0 && value % whole === 0;
  }
  if (factor <= 0) return false;
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  const whole = Math.trunc(quotient);
  return quotient === whole || (whole !== 0 && (quotient - whole) / (quotient + whole) < 1e-9);
}

function arrayOk(node: SchemaNode, value: readonly unknown[]): boolean {
  if ((node.types & TYPE_BITS.array) === 0 && node.types !== 0 && !formatExempt(node)) return false;
  const { minItems, maxItems } = node.schema;
  if (minItems !== undefined && value.length < minItems) return false;
  if (maxItems !== undefined && value.length > maxItems) return false;
  const items = node.items;
  if (items !== undefined) {
    for (const item of value) if (!isValid(items, item)) return false;
  }
  return true;
}

function objectOk(node: SchemaNode, value: Record<string, unknown>, old: unknown): boolean {
  if (!kindOk(node, TYPE_BITS.object)) return false;
  const properties = node.properties;
  const additional = node.additional;
  const closed = node.schema.additionalProperties === false;
  let count = 0;
  const before = isObject(old) ? old : undefined;
  for (const key in value) {
    const item = value[key];
    if (item === undefined) continue;
    count++;
    const known = before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined;
    const child = properties.get(key);
    if (child === undefined && additional === undefined) {
      if (closed) return false;
      continue;
    }
    if (item === known && typeof item === "object") continue;
    const schema = child ?? additional;
    if (schema !== undefined && !isValid(schema, item, known)) return false;
  }
  for (const name of node.required) if (value[name] === undefined || !Object.hasOwn(value, name)) return false;
  const { minProperties, maxProperties } = node.schema;
  return (
    (minProperties === undefined || count >= minProperties) && (maxProperties === undefined || count <= maxProperties)
  );
}

function junctorsHold(node: SchemaNode, value: unknown): boolean {
  for (const part of node.allOf) if (!isValid(part, value)) return false;
  if (node.anyOf.length > 0 && !node.anyOf.some((part) => isValid(part, value))) return false;
  if (node.oneOf.length > 0) {
    let matches = 0;
    for (const part of node.oneOf) if (isValid(part, value) && ++matches > 1) return false;
    if (matches !== 1) return false;
  }
  return node.not === undefined || !isValid(node.not, value);
}
