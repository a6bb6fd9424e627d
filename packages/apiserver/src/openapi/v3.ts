import type { JSONSchemaProps } from "@capstan/apimachinery";
import type { Definition } from "../builtin/definitions.ts";
import type { ResourceType } from "../types.ts";
import { type Dialect, typePaths } from "./operations.ts";
import { publishedSchemas } from "./schemas.ts";

const PREFIX = "#/components/schemas/";

const dialect: Dialect = {
  reference: (schema) => ({ $ref: `${PREFIX}${schema}` }),
  parameter: (name, type, place) => ({
    name,
    in: place,
    ...(place === "path" ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  }),
  body: (schema, types) => ({
    requestBody: { required: true, content: Object.fromEntries(types.map((t) => [t, { schema }])) },
  }),
  answer: (schema, types) => ({
    description: "",
    content: Object.fromEntries(types.map((t) => [t, { schema }])),
  }),
};

/** The OpenAPI 3.0 document of one group version. */
export function v3Document(types: readonly ResourceType[], kubernetesVersion: string): object {
  const paths: Record<string, object> = {};
  for (const type of types) Object.assign(paths, typePaths(type, dialect));
  const schemas: Record<string, unknown> = {};
  for (const { name, recorded, custom } of publishedSchemas(types))
    schemas[name] = recorded === undefined ? v3Custom(custom ?? {}) : v3Schema(recorded);
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: kubernetesVersion },
    paths,
    components: {
      schemas,
      securitySchemes: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } },
    },
  };
}

/** A CRD's schema is already OpenAPI 3; only the reference to the metadata is ours. */
function v3Custom(schema: JSONSchemaProps): object {
  const { metadata, ...rest } = schema.properties ?? {};
  return { ...schema, properties: { ...rest, ...(metadata === undefined ? {} : { metadata: v3Schema(metadata) }) } };
}

/** References next to other keywords go into allOf, as OpenAPI 3.0 demands. */
function v3Schema(schema: Definition): object {
  const { $ref, properties, items, additionalProperties, ...rest } = schema;
  const reference = { $ref: `${PREFIX}${$ref}` };
  if ($ref !== undefined && Object.keys(schema).length === 1) return reference;
  return {
    ...rest,
    ...($ref === undefined ? {} : { allOf: [reference] }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, v3Schema(v)])) }),
    ...(items === undefined ? {} : { items: v3Schema(items) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === "object" ? v3Schema(additionalProperties) : additionalProperties,
        }),
  };
}
