import type { JSONSchemaProps } from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";
import { type Dialect, typePaths } from "./operations.ts";
import { publishedSchemas } from "./schemas.ts";

const dialect: Dialect = {
  reference: (schema) => ({ $ref: `#/definitions/${schema}` }),
  parameter: (name, type, place) => ({
    name,
    in: place,
    type,
    uniqueItems: true,
    ...(place === "path" ? { required: true } : {}),
  }),
  body: (schema, types) => ({
    consumes: types,
    "x-body": { name: "body", in: "body", required: true, schema },
  }),
  answer: (schema) => ({ description: "", schema }),
};

/** Part of the Swagger 2.0 document: the paths and definitions of some types. */
export interface V2Part {
  readonly paths: Record<string, object>;
  readonly definitions: Record<string, object>;
}

/** Paths and definitions of the types of one group version. */
export function v2Part(types: readonly ResourceType[]): V2Part {
  const paths: Record<string, object> = {};
  for (const type of types)
    for (const [path, item] of Object.entries(typePaths(type, dialect))) paths[path] = bodyAsParameter(item);
  const definitions: Record<string, object> = {};
  for (const { name, recorded, custom } of publishedSchemas(types))
    definitions[name] = v2Schema(recorded ?? custom ?? {}, true);
  return { paths, definitions };
}

/** In Swagger 2.0 the body is one of the parameters. */
function bodyAsParameter(item: object): object {
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]: [string, unknown]) => {
      if (method === "parameters") return [method, operation];
      const { "x-body": body, parameters, ...rest } = operation as { "x-body"?: object; parameters: object[] };
      return [method, { ...rest, parameters: body === undefined ? parameters : [body, ...parameters] }];
    }),
  );
}

/** The schema without what Swagger 2.0 lacks: nullable, anyOf, oneOf, not; int-or-string and mixed types become untyped. */
function v2Schema(schema: JSONSchemaProps, root = false): object {
  const { $ref, properties, items, additionalProperties, nullable, anyOf, oneOf, not: _not, allOf, ...rest } = schema;
  if ($ref !== undefined) return { ...rest, $ref: `#/definitions/${$ref}` };
  if (rest.format === "int-or-string") return { type: "string", format: "int-or-string" };
  if (rest["x-kubernetes-int-or-string"] === true) return { "x-kubernetes-int-or-string": true };
  if (rest["x-kubernetes-preserve-unknown-fields"] === true && root)
    return { type: "object", "x-kubernetes-group-version-kind": rest["x-kubernetes-group-version-kind"] };
  // A value that may be null, or of several types, has no type in Swagger 2.0.
  if (nullable === true) delete (rest as { type?: string }).type;
  const simple = rest.type === undefined && (anyOf !== undefined || oneOf !== undefined);
  const parts = simple ? [] : (allOf ?? []).map((s) => v2Schema(s));
  return {
    ...rest,
    ...(parts.length === 0 ? {} : { allOf: parts }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, v2Schema(v)])) }),
    ...(items === undefined ? {} : { items: v2Schema(items) }),
    ...(typeof additionalProperties === "object" ? { additionalProperties: v2Schema(additionalProperties) } : {}),
  };
}
