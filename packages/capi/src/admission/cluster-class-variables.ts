import { checkStructuralSchema, compileSchema, deepEqual, isObject, type JSONSchemaProps } from "@capstan/apimachinery";
import type { AdmissionProblem } from "../schema/kind.ts";
import { invalid, metadataProblems } from "./problems.ts";

type Metadata = Parameters<typeof metadataProblems>[0];

interface Variable {
  name: string;
  schema: { openAPIV3Schema: object };
  deprecatedV1Beta1Metadata?: NonNullable<Metadata>;
}

/** The name under which patches find the builtin variables. */
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
 * defaults are invalid or whose rules do not parse would reject every cluster. Unchanged variables are not validated again.
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
      ...metadataProblems(variable.deprecatedV1Beta1Metadata, `${path}.deprecatedV1Beta1Metadata`),
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

function schemaProblems({ schema }: Variable, path: string): AdmissionProblem[] {
  const at = `${path}.schema.openAPIV3Schema`;
  const { "x-metadata": metadata } = schema.openAPIV3Schema as { "x-metadata"?: Metadata };
  const plain = withoutMetadata(schema.openAPIV3Schema) as JSONSchemaProps;
  const problems = checkStructuralSchema(asField(plain), at).map(({ type, field, badValue, detail }) => ({
    type: TYPES.includes(type) ? (type as AdmissionProblem["type"]) : "FieldValueInvalid",
    field: field.replace(`${at}.properties[value]`, at),
    value: badValue,
    detail: detail ?? "does not fit",
  }));
  return [
    ...metadataProblems(metadata, `${at}.x-metadata`),
    ...(problems.length > 0 ? problems : sampleProblems(plain, at)),
  ];
}

/** Validated as a field of an object, because a root schema must have type object. */
function asField(schema: JSONSchemaProps): JSONSchemaProps {
  return { type: "object", properties: { value: schema } };
}

/** Examples and enum values, at any depth, that the schema itself would reject. */
function sampleProblems(schema: JSONSchemaProps, path: string): AdmissionProblem[] {
  const samples = [
    ...(schema.example === undefined ? [] : [{ value: schema.example, field: `${path}.example` }]),
    ...(schema.enum ?? []).map((value, index) => ({ value, field: `${path}.enum[${index}]` })),
  ];
  const inner = [
    ...Object.entries(schema.properties ?? {}).map(([name, one]) => ({ one, at: `${path}.properties[${name}]` })),
    { one: schema.items, at: `${path}.items` },
    { one: schema.additionalProperties, at: `${path}.additionalProperties` },
  ];
  return [
    ...samples.flatMap(({ value, field }) => {
      const [first] = compileSchema(asField(schema)).validate({ value });
      return first === undefined ? [] : [invalid(field, value, first.detail ?? "does not fit the schema")];
    }),
    ...inner.flatMap(({ one, at }) => (isObject(one) ? sampleProblems(one as JSONSchemaProps, at) : [])),
  ];
}

/** Labels and annotations in schemas exist only in Cluster API. */
function withoutMetadata(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutMetadata);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => (key === "x-metadata" ? [] : [[key, withoutMetadata(value)]])),
  );
}
