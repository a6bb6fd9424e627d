import { checkStructuralSchema, deepEqual, isObject } from "@capstan/apimachinery";
import type { AdmissionProblem } from "../schema/kind.ts";
import { invalid } from "./problems.ts";

interface Variable {
  name: string;
  schema: { openAPIV3Schema: object };
}

/** The name under which patches find what the controller knows by itself. */
const RESERVED = "builtin";
const TYPES: readonly string[] = [
  "FieldValueRequired",
  "FieldValueInvalid",
  "FieldValueForbidden",
  "FieldValueNotSupported",
  "FieldValueDuplicate",
];

/**
 * Variables must have names that patches can use, each its own, and schemas that a CustomResourceDefinition could have: a class whose
 * defaults do not fit or whose rules cannot be read would refuse every cluster. What did not change is not judged again.
 */
export function variableProblems(
  variables: readonly Variable[] | undefined,
  before: readonly Variable[] | undefined,
): AdmissionProblem[] {
  const names = new Set<string>();
  return (variables ?? []).flatMap((variable) => {
    const { name } = variable;
    const path = `spec.variables[${name}]`;
    const twice = names.has(name);
    names.add(name);
    return [
      ...(twice ? [invalid(`${path}.name`, name, "variable name must be unique")] : []),
      ...nameProblems(name, `${path}.name`),
      ...(before?.some((old) => deepEqual(old, variable)) === true ? [] : schemaProblems(variable, path)),
    ];
  });
}

function nameProblems(name: string, field: string): AdmissionProblem[] {
  return [
    ...(name === RESERVED ? [invalid(field, name, `"${RESERVED}" is a reserved variable name`)] : []),
    ...(name.includes(".") ? [invalid(field, name, 'variable name cannot contain "."')] : []),
  ];
}

/** Judged as a field of an object, because the schema of an object itself must be one of type object. */
function schemaProblems({ schema }: Variable, path: string): AdmissionProblem[] {
  const at = `${path}.schema.openAPIV3Schema`;
  const wrapped = { type: "object", properties: { value: withoutMetadata(schema.openAPIV3Schema) } };
  return checkStructuralSchema(wrapped, at).map(({ type, field, badValue, detail }) => ({
    type: TYPES.includes(type) ? (type as AdmissionProblem["type"]) : "FieldValueInvalid",
    field: field.replace(`${at}.properties[value]`, at),
    value: badValue,
    detail: detail ?? "does not fit",
  }));
}

/** Only Cluster API knows labels and annotations in schemas. */
function withoutMetadata(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutMetadata);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => (key === "x-metadata" ? [] : [[key, withoutMetadata(value)]])),
  );
}
