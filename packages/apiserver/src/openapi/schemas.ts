import type { JSONSchemaProps } from "@capstan/apimachinery";
import { type Definition, definition } from "../builtin/definitions.ts";
import type { ResourceType } from "../types.ts";
import { META, schemaName, subresourceOrigin } from "./naming.ts";

/** Definitions that every document carries, because all operations use them. */
const SHARED = ["ObjectMeta", "ListMeta", "Status", "DeleteOptions", "Patch", "WatchEvent", "APIResourceList"].map(
  (name) => `${META}.${name}`,
);

/** A schema to publish: recorded (with names as references), or as a CRD's author wrote it. */
export interface PublishedSchema {
  readonly name: string;
  readonly recorded?: Definition;
  readonly custom?: JSONSchemaProps;
}

/** All schemas of a document about these types. */
export function publishedSchemas(types: readonly ResourceType[]): PublishedSchema[] {
  const recorded = new Map<string, Definition>();
  const custom: PublishedSchema[] = [];
  for (const name of SHARED) collect(name, recorded);
  for (const type of types) {
    const name = schemaName(type, type.kind);
    if (type.builtin && definition(name) !== undefined) {
      collect(name, recorded);
      collect(schemaName(type, type.listKind), recorded);
    } else {
      custom.push({ name, custom: withGvk(type, type.schema) });
      custom.push({ name: schemaName(type, type.listKind), recorded: listSchema(type, name) });
    }
    for (const sub of type.subresources)
      if (sub.kind !== type.kind) collect(schemaName(subresourceOrigin(type, sub), sub.kind), recorded);
    if (type.scale !== undefined) collect("io.k8s.api.autoscaling.v1.Scale", recorded);
  }
  return [...[...recorded].map(([name, schema]) => ({ name, recorded: schema })), ...custom].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

/** A definition and everything it refers to. */
function collect(name: string, into: Map<string, Definition>): void {
  if (into.has(name)) return;
  const found = definition(name);
  if (found === undefined) return;
  into.set(name, found);
  references(found, (ref) => collect(ref, into));
}

function references(schema: Definition, see: (name: string) => void): void {
  if (schema.$ref !== undefined) see(schema.$ref);
  for (const property of Object.values(schema.properties ?? {})) references(property, see);
  if (schema.items !== undefined) references(schema.items, see);
  if (typeof schema.additionalProperties === "object") references(schema.additionalProperties, see);
}

function gvk(type: ResourceType, kind: string): { group: string; version: string; kind: string }[] {
  return [{ group: type.group, kind, version: type.version }];
}

/** What kubectl explain shows of the fields that every custom resource has, as upstream publishes it. */
const CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const API_VERSION = `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${CONVENTIONS}#resources`;
const KIND = `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`;
const METADATA = `Standard object's metadata. More info: ${CONVENTIONS}#metadata`;
const LIST_METADATA = `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`;

/** The author's schema with the fields that every object has. */
function withGvk(type: ResourceType, schema: JSONSchemaProps): JSONSchemaProps {
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: "string", description: API_VERSION },
      kind: { type: "string", description: KIND },
      metadata: { $ref: `${META}.ObjectMeta`, description: METADATA },
    },
    "x-kubernetes-group-version-kind": gvk(type, type.kind),
  };
}

function listSchema(type: ResourceType, item: string): Definition {
  return {
    type: "object",
    description: `${type.listKind} is a list of ${type.kind}`,
    required: ["items"],
    properties: {
      apiVersion: { type: "string", description: API_VERSION },
      items: {
        type: "array",
        description: `List of ${type.plural}. More info: ${CONVENTIONS}`,
        items: { $ref: item },
      },
      kind: { type: "string", description: KIND },
      metadata: { $ref: `${META}.ListMeta`, description: LIST_METADATA },
    },
    "x-kubernetes-group-version-kind": gvk(type, type.listKind),
  };
}
