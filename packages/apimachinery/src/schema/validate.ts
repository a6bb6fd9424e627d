import {
  type FieldError,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "../field-error.ts";
import { goJson, goNumber, goQuote } from "../go-text.ts";
import { formatExempt, inEnum, inRange, isMultipleOf, limitFor, longerThan } from "./check.ts";
import type { Correlation } from "./correlation.ts";
import { type SchemaNode, TYPE_BITS } from "./node.ts";
import { Result } from "./result.ts";

/**
 * Validates a value and formats its errors as kube-openapi does. With a correlation, errors on values that did not change
 * are dropped. Slower than isValid and called only after it said no.
 */
export function validateNode(
  node: SchemaNode,
  value: unknown,
  path: string,
  correlation: Correlation | undefined,
): Result {
  const result = new Result();
  if (value === null || value === undefined) {
    result.merge(checkNull(node, path));
    if (node.enumValues !== undefined) enumError(node, null, path, result);
    return result;
  }
  if (node.types !== 0 || node.format !== "") {
    result.merge(checkType(node, value, path));
    result.matches++;
  }
  result.merge(checkJunctors(node, value, path, correlation));
  result.matches++;
  if (typeof value === "string") {
    checkString(node, value, path, result);
    result.matches++;
    if (node.checkFormat !== undefined) {
      if (!node.checkFormat(value)) {
        const text = `${path} in body must be of type ${node.format}: ${goQuote(value)}`;
        result.add({ text, error: typeInvalid(fieldOf(path), value, text) });
      }
      result.matches++;
    }
  } else if (typeof value === "number") {
    checkNumber(node, value, path, result);
    result.matches += 2;
  } else if (Array.isArray(value)) {
    checkArray(node, value, path, result, correlation);
    result.matches += 2;
  }
  if (node.enumValues !== undefined && !inEnum(node, value)) enumError(node, value, path, result);
  result.matches++;
  if (typeof value === "object" && !Array.isArray(value)) {
    checkObject(node, value as Record<string, unknown>, path, result, correlation);
    result.matches++;
  }
  result.matches++;
  return result;
}

/** Validates a child and drops its errors when it is what it was before. */
function validateRatcheting(
  node: SchemaNode,
  value: unknown,
  path: string,
  correlation: Correlation | undefined,
): Result {
  const result = validateNode(node, value, path, correlation);
  if (!result.ok && correlation?.equal() === true) {
    const quiet = new Result();
    quiet.matches = result.matches;
    return quiet;
  }
  return result;
}

/** The whole object's validation. */
export function validateRoot(node: SchemaNode, value: unknown, correlation: Correlation | undefined): Result {
  return validateRatcheting(node, value, "", correlation);
}

/** Errors of a value that stands outside an object, such as a default; `at` is the path of the value itself. */
export function validateAt(node: SchemaNode, value: unknown, at: string): FieldError[] {
  return validateNode(node, value, "", undefined).errors.map(({ error }) => ({
    ...error,
    field: error.field === "<nil>" ? at : `${at}.${error.field}`,
  }));
}

function fieldOf(path: string): string {
  const field = path.startsWith(".") ? path.slice(1) : path;
  return field === "" ? "<nil>" : field;
}

function checkNull(node: SchemaNode, path: string): Result {
  const result = new Result();
  if (node.types === 0 || node.nullable) result.matches++;
  else typeError(node.typeNames, "null", path, result);
  return result;
}

function typeError(expected: string, actual: string, path: string, result: Result): void {
  const text = `${path} in body must be of type ${expected}: ${goQuote(actual)}`;
  result.add({ text, error: typeInvalid(fieldOf(path), actual, text) });
}

function checkType(node: SchemaNode, value: unknown, path: string): Result {
  const result = new Result();
  const actual = jsonType(value);
  const fits =
    (node.types & TYPE_BITS[actual]) !== 0 || (actual === "integer" && (node.types & TYPE_BITS.number) !== 0);
  const plain = actual !== "string" && actual !== "array";
  if (plain && node.format !== "" && !fits) {
    typeError(node.format, actual === "integer" ? "int64" : actual === "number" ? "float64" : "", path, result);
    return result;
  }
  if ((formatExempt(node) && !plain) || fits) result.matches++;
  else typeError(node.typeNames, actual, path, result);
  return result;
}

function jsonType(value: unknown): keyof typeof TYPE_BITS {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" ? "string" : typeof value === "boolean" ? "boolean" : "object";
}

function enumError(node: SchemaNode, value: unknown, path: string, result: Result): void {
  const allowed = (node.enumValues ?? []).map((v) => (typeof v === "string" ? v : goJson(v)));
  const text = `${path} in body should be one of [${allowed.join(" ")}]`;
  result.add({ text, error: notSupported(fieldOf(path), value, allowed) });
}

function checkString(node: SchemaNode, value: string, path: string, result: Result): void {
  const { minLength, maxLength, pattern } = node.schema;
  if (maxLength !== undefined && longerThan(value, maxLength)) {
    const text = `${path} in body should be at most ${maxLength} chars long`;
    result.add({ text, error: tooLong(fieldOf(path), maxLength) });
  } else if (minLength !== undefined && !longerThan(value, minLength - 1)) {
    invalid(value, path, `should be at least ${minLength} chars long`, result);
  } else if (node.patternError !== undefined) {
    invalid(value, path, `should match '${pattern ?? ""}, but pattern is invalid: ${node.patternError}'`, result);
  } else if (node.pattern !== undefined && !node.pattern(value)) {
    invalid(value, path, `should match '${pattern ?? ""}'`, result);
  }
}

function invalid(value: unknown, path: string, wrong: string, result: Result): void {
  const text = `${path} in body ${wrong}`;
  result.add({ text, error: invalidValue(fieldOf(path), value, text) });
}

function checkNumber(node: SchemaNode, value: number, path: string, result: Result): void {
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum } = node.schema;
  const range = (what: string, number: number): void => {
    if (inRange(node, number)) return;
    const format = node.format === "" ? "(default format)" : `with format ${node.format}`;
    const text = `${what} value must be of type ${node.schema.type ?? ""} ${format} in ${path}`;
    result.add({ text, error: invalidValue("<nil>", "", text) });
  };
  range("Checked", value);
  if (multipleOf !== undefined) range("MultipleOf", multipleOf);
  if (minimum !== undefined) range("Minimum boundary", minimum);
  if (maximum !== undefined) range("Maximum boundary", maximum);
  if (multipleOf !== undefined && Number.isInteger(value) && Math.trunc(multipleOf) <= 0) {
    // Whole numbers are compared with a whole factor upstream, and 0.5 becomes 0 there.
    const text = `factor MultipleOf declared for ${path} must be positive: ${Math.trunc(multipleOf)}`;
    result.add({ text, error: invalidValue(fieldOf(path), value, text) });
  } else if (multipleOf !== undefined && !isMultipleOf(value, multipleOf)) {
    invalid(value, path, `should be a multiple of ${goNumber(limitFor(value, multipleOf))}`, result);
  }
  if (minimum !== undefined) {
    const limit = limitFor(value, minimum);
    const exclusive = exclusiveMinimum === true;
    if (exclusive ? value <= limit : value < limit) {
      invalid(value, path, `should be greater than ${exclusive ? "" : "or equal to "}${goNumber(limit)}`, result);
    }
  }
  if (maximum !== undefined) {
    const limit = limitFor(value, maximum);
    const exclusive = exclusiveMaximum === true;
    if (exclusive ? value >= limit : value > limit) {
      invalid(value, path, `should be less than ${exclusive ? "" : "or equal to "}${goNumber(limit)}`, result);
    }
  }
}

function checkArray(
  node: SchemaNode,
  value: readonly unknown[],
  path: string,
  result: Result,
  correlation: Correlation | undefined,
): void {
  const items = node.items;
  if (items !== undefined) {
    for (let i = 0; i < value.length && !result.full; i++)
      result.merge(validateRatcheting(items, value[i], `${path}[${i}]`, correlation?.index(i)));
  }
  const { minItems, maxItems } = node.schema;
  if (minItems !== undefined && value.length < minItems) {
    invalid(value.length, path, `should have at least ${minItems} items`, result);
  }
  if (maxItems !== undefined && value.length > maxItems) {
    const text = `${path} in body should have at most ${maxItems} items`;
    result.add({ text, error: tooMany(fieldOf(path), value.length, maxItems) });
  }
}

function checkObject(
  node: SchemaNode,
  value: Record<string, unknown>,
  path: string,
  result: Result,
  correlation: Correlation | undefined,
): void {
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  const { minProperties, maxProperties, additionalProperties } = node.schema;
  if (minProperties !== undefined && names.length < minProperties) {
    invalid(names.length, path, `should have at least ${minProperties} properties`, result);
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    const text = `${path} in body should have at most ${maxProperties} properties`;
    result.add({ text, error: tooMany(fieldOf(path), names.length, maxProperties) });
  }
  const child = (name: string, schema: SchemaNode, at: string): void => {
    // apiVersion and kind of the root change with the requested version: they are never ratcheted.
    const typeMeta = path === "" && (name === "apiVersion" || name === "kind");
    result.merge(validateRatcheting(schema, value[name], at, typeMeta ? undefined : correlation?.key(name)));
  };
  for (const name of names) {
    if (result.full) return;
    if (node.properties.has(name)) continue;
    if (additionalProperties === false) {
      const text = `${path}.${name} in body is a forbidden property`;
      result.add({ text, error: invalidValue(fieldOf(path), name, text) });
    } else if (node.additional !== undefined) child(name, node.additional, `${path}.${name}`);
  }
  for (const [name, schema] of node.properties) {
    if (Object.hasOwn(value, name) && value[name] !== undefined) {
      child(name, schema, path === "" ? name : `${path}.${name}`);
    }
  }
  for (const name of node.required) {
    if (Object.hasOwn(value, name) && value[name] !== undefined) continue;
    const at = `${path}.${name}`;
    result.add({ text: `${at} in body is required`, error: required(fieldOf(at)) });
  }
}

function checkJunctors(node: SchemaNode, value: unknown, path: string, correlation: Correlation | undefined): Result {
  const result = new Result();
  const complain = (text: string): void => result.add({ text, error: invalidValue("<nil>", "", text) });
  const check = (part: SchemaNode): Result => validateNode(part, value, path, correlation);
  if (node.anyOf.length > 0) {
    let best: Result | undefined;
    let passed: Result | undefined;
    for (const part of node.anyOf) {
      const outcome = check(part);
      if (outcome.ok) {
        passed = outcome;
        break;
      }
      if (best === undefined || outcome.matches > best.matches) best = outcome;
    }
    if (passed === undefined) complain(`${goQuote(path)} must validate at least one schema (anyOf)`);
    const kept = passed ?? best;
    if (kept !== undefined) result.merge(kept);
  }
  if (node.oneOf.length > 0) checkOneOf(node.oneOf.map(check), path, result, complain);
  if (node.allOf.length > 0) {
    const outcomes = node.allOf.map(check);
    for (const outcome of outcomes) result.merge(outcome);
    const passed = outcomes.filter((outcome) => outcome.ok).length;
    if (passed !== outcomes.length) {
      complain(`${goQuote(path)} must validate all the schemas (allOf)${passed === 0 ? ". None validated" : ""}`);
    }
  }
  if (node.not !== undefined && check(node.not).ok) complain(`${goQuote(path)} must not validate the schema (not)`);
  result.matches++;
  return result;
}

function checkOneOf(outcomes: readonly Result[], path: string, result: Result, complain: (text: string) => void): void {
  const passed = outcomes.filter((outcome) => outcome.ok);
  const first = passed[0];
  if (passed.length === 1 && first !== undefined) {
    result.merge(first);
    return;
  }
  const found = passed.length === 0 ? "Found none valid" : `Found ${passed.length} valid alternatives`;
  complain(`${goQuote(path)} must validate one and only one schema (oneOf). ${found}`);
  if (passed.length > 0) return;
  let best: Result | undefined;
  for (const outcome of outcomes) if (best === undefined || outcome.matches > best.matches) best = outcome;
  if (best !== undefined) result.merge(best);
}
