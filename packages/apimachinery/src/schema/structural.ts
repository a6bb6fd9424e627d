import { type FieldError, fieldErrorText, forbiddenField, invalidValue } from "../field-error.ts";
import { isObject } from "../json.ts";
import { runSteps, type Steps } from "../steps.ts";
import { checkCompleteness } from "./structural-completeness.ts";
import { checkDefaults } from "./structural-defaults.ts";
import { checkInvariants } from "./structural-invariants.ts";
import { CostBook, checkOpenApi, costMessage, rootContext } from "./structural-openapi.ts";
import { checkShape } from "./structural-shape.ts";
import type { JSONSchemaProps } from "./types.ts";

/** Estimated cost of all rules of a schema at most. */
const SCHEMA_COST_LIMIT = 100_000_000;
const MAX_DEPTH = 100;

/**
 * All rules a CustomResourceDefinition's schema must obey when it is created, with the paths and texts that
 * apiextensions prints: structural form, supported keywords, defaults that validate, and rules that compile and are
 * cheap enough. `fieldPath` is the path of the schema, e.g. `spec.versions[0].schema.openAPIV3Schema`.
 */
export function checkStructuralSchema(schema: unknown, fieldPath: string): FieldError[] {
  return runSteps(structuralSteps(schema, fieldPath));
}

/** The same in pieces of some milliseconds: large schemas with many rules and patterns take longer than others should wait. */
export function* structuralSteps(schema: unknown, fieldPath: string): Steps<FieldError[]> {
  if (!isObject(schema)) return [invalidValue(fieldPath, schema ?? "", "must be a schema object")];
  if (deeperThan(schema, MAX_DEPTH))
    return [invalidValue(fieldPath, "", `schemas may be at most ${MAX_DEPTH} levels deep`)];
  yield;
  const malformed = checkShape(schema, fieldPath);
  if (malformed.length > 0) return malformed;
  const root = schema as JSONSchemaProps;
  const errors: FieldError[] = [];
  if (root.nullable === true)
    errors.push(forbiddenField(`${fieldPath}.nullable`, "nullable cannot be true at the root"));
  yield;
  const structural = yield* checkInvariants(root, fieldPath);
  yield;
  structural.push(...checkCompleteness(root, fieldPath));
  yield;
  const unsupported = hasUnsupported(root);
  yield;
  let rulesToo = false;
  if (unsupported) {
    // Reported by the keyword checks below: the structural form is not defined then.
  } else if (structural.length > 0) errors.push(...structural.sort(byText));
  else {
    const defaults = checkDefaults(root, fieldPath);
    yield;
    errors.push(...defaults);
    rulesToo = defaults.length === 0;
  }
  const costs = new CostBook();
  const found = yield* checkOpenApi(root, fieldPath, rulesToo ? rootContext(root, costs) : undefined);
  errors.push(...found.schemaErrors, ...found.celErrors);
  if (costs.total > SCHEMA_COST_LIMIT) {
    for (const path of costs.mostExpensive()) {
      errors.push(
        forbiddenField(
          path,
          "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
        ),
      );
    }
    errors.push(
      forbiddenField(
        fieldPath,
        costMessage(
          "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema",
          costs.total,
          SCHEMA_COST_LIMIT,
        ),
      ),
    );
  }
  return errors;
}

function byText(a: FieldError, b: FieldError): number {
  const [x, y] = [fieldErrorText(a), fieldErrorText(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((child) => deeperThan(child, levels - 1));
}

const UNSUPPORTED = [
  "id",
  "$schema",
  "$ref",
  "patternProperties",
  "dependencies",
  "additionalItems",
  "definitions",
] as const;

function hasUnsupported(schema: JSONSchemaProps): boolean {
  if (UNSUPPORTED.some((key) => schema[key] !== undefined) || Array.isArray(schema.items)) return true;
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) return true;
  const children = [
    ...Object.values(schema.properties ?? {}),
    schema.items,
    typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined,
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    schema.not,
  ];
  return children.some((child) => child !== undefined && hasUnsupported(child));
}
