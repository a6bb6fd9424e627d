import type { JSONSchemaProps } from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";
import { allParameters, type Dialect, typePaths } from "./operations.ts";
import { publishedSchemas } from "./schemas.ts";

const dialect: Dialect = {
  reference: (schema) => ({ $ref: `#/definitions/${schema}` }),
  parameter: (name) => ({ $ref: `#/parameters/${name}` }),
  body: (schema, types) => ({
    consumes: types,
    "x-body": { name: "body", in: "body", required: true, schema },
  }),
  answer: (schema) => ({ description: "", schema }),
};

/** The two large parts of the Swagger 2.0 document, as JSON texts by path and by name of the definition. */
export interface V2Parts {
  readonly paths: Map<string, string>;
  readonly definitions: Map<string, string>;
}

/** Adds what some types publish; definitions that several types share are written once. */
export function addV2Types(parts: V2Parts, types: readonly ResourceType[]): void {
  for (const type of types)
    for (const [path, item] of Object.entries(typePaths(type, dialect)))
      parts.paths.set(path, JSON.stringify(bodyAsParameter(item)));
  for (const { name, recorded, custom } of publishedSchemas(types))
    if (!parts.definitions.has(name)) parts.definitions.set(name, rootText(recorded ?? custom ?? {}));
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

/** A definition whose fields are free is published as a bare object. */
function rootText(schema: JSONSchemaProps): string {
  if (schema["x-kubernetes-preserve-unknown-fields"] !== true) {
    const changed = new Set<JSONSchemaProps>();
    markChanged(schema, changed);
    return schemaText(schema, changed);
  }
  const gvk = schema["x-kubernetes-group-version-kind"];
  return JSON.stringify({ type: "object", "x-kubernetes-group-version-kind": gvk });
}

/** Collects the parts of a schema that Swagger 2.0 cannot hold, and all parts around them. */
function markChanged(schema: JSONSchemaProps, changed: Set<JSONSchemaProps>): boolean {
  let found =
    schema.nullable !== undefined ||
    schema.anyOf !== undefined ||
    schema.oneOf !== undefined ||
    schema.not !== undefined ||
    schema.allOf !== undefined ||
    schema.$ref !== undefined ||
    schema.format === "int-or-string" ||
    schema["x-kubernetes-int-or-string"] !== undefined ||
    typeof schema.additionalProperties === "boolean";
  const { properties, items, additionalProperties } = schema;
  for (const name in properties) if (markChanged(properties[name] ?? {}, changed)) found = true;
  if (items !== undefined && markChanged(items, changed)) found = true;
  if (typeof additionalProperties === "object" && markChanged(additionalProperties, changed)) found = true;
  if (found) changed.add(schema);
  return found;
}

/**
 * The schema as JSON without what Swagger 2.0 lacks: nullable, allOf, anyOf, oneOf, not; int-or-string and nullable values become untyped.
 * Parts that need no change are written natively: with many CRDs, copies of their schemas would hold up the event loop.
 */
function schemaText(schema: JSONSchemaProps, changed: ReadonlySet<JSONSchemaProps>): string {
  if (!changed.has(schema)) return JSON.stringify(schema);
  if (schema["x-kubernetes-int-or-string"] === true) return '{"x-kubernetes-int-or-string":true}';
  if (schema.format === "int-or-string") return '{"type":"string","format":"int-or-string"}';
  let text = "";
  for (const key of Object.keys(schema) as (keyof JSONSchemaProps)[]) {
    const value = keywordText(key, schema, changed);
    if (value !== undefined) text += `${text === "" ? "" : ","}"${key}":${value}`;
  }
  return `{${text}}`;
}

const DROPPED: ReadonlySet<string> = new Set(["nullable", "allOf", "anyOf", "oneOf", "not"]);

function keywordText(
  key: keyof JSONSchemaProps,
  schema: JSONSchemaProps,
  changed: ReadonlySet<JSONSchemaProps>,
): string | undefined {
  const { properties, items, additionalProperties } = schema;
  if (DROPPED.has(key) || (key === "type" && schema.nullable === true)) return undefined;
  if (key === "$ref") return `"#/definitions/${schema.$ref}"`;
  if (key === "properties" && properties !== undefined) return propertiesText(properties, changed);
  if (key === "items" && items !== undefined) return schemaText(items, changed);
  if (key === "additionalProperties")
    return typeof additionalProperties === "object" ? schemaText(additionalProperties, changed) : undefined;
  return JSON.stringify(schema[key]);
}

function propertiesText(
  properties: Readonly<Record<string, JSONSchemaProps>>,
  changed: ReadonlySet<JSONSchemaProps>,
): string {
  let text = "";
  for (const name of Object.keys(properties))
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${schemaText(properties[name] ?? {}, changed)}`;
  return `{${text}}`;
}

/** All of the document but its two large parts. */
export function v2Head(kubernetesVersion: string): object {
  const parameters = allParameters().map(({ name, type, place }) => [
    name,
    { name, in: place, type, uniqueItems: true, ...(place === "path" ? { required: true } : {}) },
  ]);
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: kubernetesVersion },
    securityDefinitions: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } },
    security: [{ BearerToken: [] }],
    parameters: Object.fromEntries(parameters) as object,
  };
}
