import { compileSchema, type JSONSchemaProps } from "@capstan/apimachinery";
import type { AdmissionProblem } from "../schema/kind.ts";
import { invalid } from "./problems.ts";

interface Variable {
  name: string;
  schema: { openAPIV3Schema: object };
}

/** A class whose defaults do not fit its own schemas would refuse every cluster that relies on them. */
export function variableSchemaProblems(variables: readonly Variable[] | undefined): AdmissionProblem[] {
  return (variables ?? []).flatMap(({ name, schema }) =>
    defaultProblems(schema.openAPIV3Schema as JSONSchemaProps, `spec.variables[${name}].schema.openAPIV3Schema`),
  );
}

function defaultProblems(schema: JSONSchemaProps, path: string): AdmissionProblem[] {
  const { default: fallback, properties, items, additionalProperties } = schema;
  return [
    ...(fallback === undefined ? [] : misfits(schema, fallback, `${path}.default`)),
    ...Object.entries(properties ?? {}).flatMap(([name, property]) =>
      defaultProblems(property, `${path}.properties[${name}]`),
    ),
    ...(isSchema(items) ? defaultProblems(items, `${path}.items`) : []),
    ...(isSchema(additionalProperties) ? defaultProblems(additionalProperties, `${path}.additionalProperties`) : []),
  ];
}

function isSchema(value: unknown): value is JSONSchemaProps {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function misfits(schema: JSONSchemaProps, fallback: unknown, path: string): AdmissionProblem[] {
  try {
    const errors = compileSchema({ type: "object", properties: { value: schema } }).validate({ value: fallback });
    const [first] = errors;
    return first === undefined ? [] : [invalid(path, fallback, first.detail ?? "does not fit the schema")];
  } catch (error) {
    return [
      invalid(path, fallback, `the schema cannot be used: ${error instanceof Error ? error.message : "unknown"}`),
    ];
  }
}
