import { type FieldError, typeInvalid } from "../field-error.ts";
import { isObject } from "../json.ts";

type Kind =
  | "text"
  | "flag"
  | "number"
  | "texts"
  | "list"
  | "schema"
  | "schemas"
  | "schemaMap"
  | "schemaOrFlag"
  | "rules";

const KEYWORDS: Readonly<Record<string, Kind>> = {
  type: "text",
  format: "text",
  pattern: "text",
  title: "text",
  description: "text",
  id: "text",
  $ref: "text",
  $schema: "text",
  nullable: "flag",
  uniqueItems: "flag",
  exclusiveMaximum: "flag",
  exclusiveMinimum: "flag",
  "x-kubernetes-preserve-unknown-fields": "flag",
  "x-kubernetes-embedded-resource": "flag",
  "x-kubernetes-int-or-string": "flag",
  "x-kubernetes-list-type": "text",
  "x-kubernetes-map-type": "text",
  "x-kubernetes-list-map-keys": "texts",
  maximum: "number",
  minimum: "number",
  multipleOf: "number",
  maxLength: "number",
  minLength: "number",
  maxItems: "number",
  minItems: "number",
  maxProperties: "number",
  minProperties: "number",
  required: "texts",
  enum: "list",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
  items: "schema",
  properties: "schemaMap",
  additionalProperties: "schemaOrFlag",
  "x-kubernetes-validations": "rules",
};

/**
 * Keywords whose values have the wrong JSON type. Upstream cannot decode such schemas at all; everything after this check
 * relies on the types.
 */
export function checkShape(schema: Record<string, unknown>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, path, errors);
  return errors;
}

function visit(schema: unknown, path: string, errors: FieldError[]): void {
  if (!isObject(schema)) {
    errors.push(typeInvalid(path, schema ?? null, "must be a schema object"));
    return;
  }
  for (const [key, value] of Object.entries(schema)) {
    const kind = Object.hasOwn(KEYWORDS, key) ? KEYWORDS[key] : undefined;
    if (kind !== undefined && value !== undefined) checkKeyword(kind, value, `${path}.${key}`, errors);
  }
}

function checkKeyword(kind: Kind, value: unknown, path: string, errors: FieldError[]): void {
  const expect = (ok: boolean, what: string): void => {
    if (!ok) errors.push(typeInvalid(path, value ?? null, `must be ${what}`));
  };
  const isText = (item: unknown): boolean => typeof item === "string";
  switch (kind) {
    case "text":
      return expect(isText(value), "a string");
    case "flag":
      return expect(typeof value === "boolean", "a boolean");
    case "number":
      return expect(typeof value === "number", "a number");
    case "list":
      return expect(Array.isArray(value), "a list");
    case "texts":
      return expect(Array.isArray(value) && value.every(isText), "a list of strings");
    case "rules":
      return expect(Array.isArray(value) && value.every(isRule), "a list of rules");
    case "schema":
      // A list of schemas under items is reported by the keyword checks.
      return Array.isArray(value) ? undefined : visit(value, path, errors);
    case "schemaOrFlag":
      return typeof value === "boolean" ? undefined : visit(value, path, errors);
    case "schemas":
      if (!Array.isArray(value)) return expect(false, "a list of schemas");
      return value.forEach((part, i) => visit(part, `${path}[${i}]`, errors));
    case "schemaMap":
      if (!isObject(value)) return expect(false, "an object of schemas");
      for (const [name, child] of Object.entries(value)) visit(child, `${path}[${name}]`, errors);
  }
}

function isRule(rule: unknown): boolean {
  if (!isObject(rule) || typeof rule["rule"] !== "string") return false;
  const texts = ["message", "messageExpression", "reason", "fieldPath"];
  if (texts.some((key) => rule[key] !== undefined && typeof rule[key] !== "string")) return false;
  return rule["optionalOldSelf"] === undefined || typeof rule["optionalOldSelf"] === "boolean";
}
