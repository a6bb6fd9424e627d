import { type FieldError, forbiddenField, invalidValue, required } from "../field-error.ts";
import { NODES_AT_ONCE, type Steps } from "../steps.ts";
import { compileRe2 } from "./pattern.ts";
import type { JSONSchemaProps } from "./types.ts";

type Level = "root" | "item" | "field";

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/** The form every node of a structural schema must have: a type, no constraints hidden in junctors, meta left alone. */
export function* checkInvariants(schema: JSONSchemaProps, path: string): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield* invariants(schema, "root", path, errors);
  return errors;
}

/** Path of a property inside a schema. */
export function propertyPath(path: string, name: string): string {
  return `${path}.properties[${name}]`;
}

function* invariants(s: JSONSchemaProps, level: Level, path: string, errors: FieldError[]): Steps<void> {
  const type = s.type ?? "";
  const intOrString = s["x-kubernetes-int-or-string"] === true;
  const preserve = s["x-kubernetes-preserve-unknown-fields"] === true;
  const embedded = s["x-kubernetes-embedded-resource"] === true;
  if (type === "array" && s.items === undefined) errors.push(required(`${path}.items`, "must be specified"));
  if (s.items !== undefined) yield* invariants(s.items, "item", `${path}.items`, errors);
  let nodes = 0;
  for (const [name, child] of Object.entries(s.properties ?? {})) {
    if (++nodes % NODES_AT_ONCE === 0) yield;
    yield* invariants(child, "field", propertyPath(path, name), errors);
  }
  if (s.additionalProperties !== undefined) {
    if (level === "root") errors.push(forbiddenField(`${path}.additionalProperties`, "must not be used at the root"));
    if (typeof s.additionalProperties === "object") {
      yield* invariants(s.additionalProperties, "field", `${path}.additionalProperties`, errors);
    }
  }
  if (intOrString && preserve) {
    errors.push(
      invalidValue(
        `${path}.x-kubernetes-preserve-unknown-fields`,
        true,
        "must be false if x-kubernetes-int-or-string is true",
      ),
    );
  }
  if (intOrString && embedded) {
    errors.push(
      invalidValue(
        `${path}.x-kubernetes-embedded-resource`,
        true,
        "must be false if x-kubernetes-int-or-string is true",
      ),
    );
  }
  const skipAllOf = isIntOrStringPair(s.allOf?.[0]?.anyOf);
  // Compiling takes its time.
  if (s.pattern !== undefined) yield;
  valueValidation(s, isIntOrStringPair(s.anyOf), skipAllOf, path, errors);
  typeRules(s, type, level, path, errors);
  if (embedded && s.additionalProperties !== undefined) {
    errors.push(
      forbiddenField(`${path}.additionalProperties`, "must not be used if x-kubernetes-embedded-resource is set"),
    );
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalidValue(`${path}.type`, type, "must be object at the root"));
  }
  metaRules(s, level === "root" || embedded, level, path, errors);
  if (embedded && !preserve && Object.keys(s.properties ?? {}).length === 0) {
    errors.push(
      required(
        `${path}.properties`,
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      ),
    );
  }
}

function typeRules(s: JSONSchemaProps, type: string, level: Level, path: string, errors: FieldError[]): void {
  if (s["x-kubernetes-embedded-resource"] === true && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, type, detail));
  } else if (
    type === "" &&
    s["x-kubernetes-int-or-string"] !== true &&
    s["x-kubernetes-preserve-unknown-fields"] !== true
  ) {
    errors.push(required(`${path}.type`, EMPTY_TYPE[level]));
  }
}

function metaRules(s: JSONSchemaProps, resource: boolean, level: Level, path: string, errors: FieldError[]): void {
  const properties = s.properties ?? {};
  for (const name of ["kind", "apiVersion"]) {
    const child = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (resource && child !== undefined && child.type !== "string") {
      errors.push(invalidValue(`${propertyPath(path, name)}.type`, child.type ?? "", "must be string"));
    }
  }
  const metadata = Object.hasOwn(properties, "metadata") ? properties["metadata"] : undefined;
  if (metadata === undefined) return;
  if (resource && metadata.type !== "object") {
    errors.push(invalidValue(`${propertyPath(path, "metadata")}.type`, metadata.type ?? "", "must be object"));
  }
  if (level === "root" && !isPlainMetadata(metadata)) {
    errors.push(
      forbiddenField(
        propertyPath(path, "metadata"),
        "must not specify anything other than name and generateName, but metadata is implicitly specified",
      ),
    );
  }
}

function isPlainMetadata(metadata: JSONSchemaProps): boolean {
  const names = Object.keys(metadata.properties ?? {});
  if (names.some((name) => name !== "name" && name !== "generateName")) return false;
  return Object.keys(metadata).every((key) =>
    ["type", "default", "properties", "externalDocs", "example"].includes(key),
  );
}

function isIntOrStringPair(anyOf: readonly JSONSchemaProps[] | undefined): boolean {
  if (anyOf?.length !== 2) return false;
  return ["integer", "string"].every((type, i) => anyOf[i]?.type === type && Object.keys(anyOf[i] ?? {}).length === 1);
}

function valueValidation(
  s: JSONSchemaProps,
  skipAnyOf: boolean,
  skipFirstAllOf: boolean,
  path: string,
  errors: FieldError[],
): void {
  if (!skipAnyOf) s.anyOf?.forEach((part, i) => nested(part, false, `${path}.anyOf[${i}]`, errors));
  s.allOf?.forEach((part, i) => nested(part, skipFirstAllOf && i === 0, `${path}.allOf[${i}]`, errors));
  s.oneOf?.forEach((part, i) => nested(part, false, `${path}.oneOf[${i}]`, errors));
  if (s.not !== undefined) nested(s.not, false, `${path}.not`, errors);
  if (s.pattern !== undefined && s.pattern !== "") {
    const compiled = compileRe2(s.pattern);
    if (typeof compiled === "string") {
      errors.push(
        invalidValue(`${path}.pattern`, s.pattern, `must be a valid regular expression, but isn't: ${compiled}`),
      );
    }
  }
}

const FORBIDDEN_NESTED: readonly (readonly [keyof JSONSchemaProps, string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function nested(s: JSONSchemaProps, skipAnyOf: boolean, path: string, errors: FieldError[]): void {
  valueValidation(s, skipAnyOf, false, path, errors);
  if (s.items !== undefined) nested(s.items, false, `${path}.items`, errors);
  for (const [name, child] of Object.entries(s.properties ?? {}))
    nested(child, false, propertyPath(path, name), errors);
  for (const [key, detail] of FORBIDDEN_NESTED) {
    const value = s[key];
    const unset =
      value === undefined || value === "" || value === false || (Array.isArray(value) && value.length === 0);
    if (!unset) errors.push(forbiddenField(`${path}.${key}`, detail));
  }
  if (s.properties !== undefined && Object.hasOwn(s.properties, "metadata")) {
    errors.push(forbiddenField(propertyPath(path, "metadata"), "must not be specified in a nested context"));
  }
}
