import { compareApiVersions, compileJsonPath, type JSONSchemaProps, type Unstructured } from "@capstan/apimachinery";
import { ALL_VERBS } from "../builtin/define.ts";
import type { CustomResourceType, VersionConverter } from "../registry/custom-type.ts";
import type { PrinterColumn, ResourceType, Strategy } from "../types.ts";
import type { CrdNames, CrdVersion, CustomResourceDefinition } from "./crd-object.ts";
import { schemaHash } from "./schema-hash.ts";

const STRATEGY: Strategy = { allowCreateOnUpdate: false, allowUnconditionalUpdate: false };

const NAME: PrinterColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  value: ".metadata.name",
};
const AGE: PrinterColumn = {
  name: "Age",
  type: "date",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
  value: ".metadata.creationTimestamp",
};

const ANYTHING: JSONSchemaProps = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Schemas are interned by the hash of their text, so that many servers with the same CRDs compile and hold them once. */
const interned = new Map<string, WeakRef<JSONSchemaProps>>();
const forget = new FinalizationRegistry<string>((hash) => {
  if (interned.get(hash)?.deref() === undefined) interned.delete(hash);
});

/** Stored schemas are frozen: their text is hashed once. */
const canonical = new WeakMap<JSONSchemaProps, JSONSchemaProps>();

function internSchema(schema: JSONSchemaProps): JSONSchemaProps {
  let found = canonical.get(schema);
  if (found === undefined) {
    found = findInterned(schema);
    canonical.set(schema, found);
  }
  return found;
}

function findInterned(schema: JSONSchemaProps): JSONSchemaProps {
  const hash = schemaHash(schema);
  const known = interned.get(hash)?.deref();
  if (known !== undefined) return known;
  interned.set(hash, new WeakRef(schema));
  forget.register(schema, hash);
  return schema;
}

/** The resource types an established CRD serves, one per served version. */
export function servedTypes(
  crd: CustomResourceDefinition,
  epoch: number,
  converter: VersionConverter,
): CustomResourceType[] {
  const { spec } = crd;
  const names = crd.status?.acceptedNames ?? spec.names;
  const storage = spec.versions.find((v) => v.storage);
  const storageSchema = internSchema(storage?.schema?.openAPIV3Schema ?? ANYTHING);
  const custom = {
    crdName: crd.metadata.name ?? "",
    epoch,
    converter,
    terminating: crd.metadata.deletionTimestamp !== undefined,
    preserveUnknownFields: spec.preserveUnknownFields === true,
    storageSchema,
  };
  return spec.versions
    .filter((v) => v.served)
    .map((version) => ({ ...baseType(crd, names, version), storageVersion: storage?.name ?? version.name, custom }));
}

function baseType(crd: CustomResourceDefinition, names: CrdNames, version: CrdVersion): ResourceType {
  const { group } = crd.spec;
  const scale = version.subresources?.scale;
  const deprecation =
    version.deprecated === true ? (version.deprecationWarning ?? deprecationText(crd, version, names.kind)) : undefined;
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: crd.spec.scope === "Namespaced",
    verbs: ALL_VERBS,
    builtin: false,
    storageVersion: version.name,
    schema: internSchema(version.schema?.openAPIV3Schema ?? ANYTHING),
    status: version.subresources?.status !== undefined,
    scale,
    subresources: [],
    columns: columnsOf(version),
    fieldSelectors: fieldSelectorsOf(version),
    strategy: STRATEGY,
    deprecation,
    strategicMerge: false,
  };
}

/** Names the version to use instead, if there is a better one that is not deprecated itself. */
function deprecationText(crd: CustomResourceDefinition, version: CrdVersion, kind: string): string {
  const { group, versions } = crd.spec;
  const better = versions
    .filter((v) => v.served && v.deprecated !== true && compareApiVersions(v.name, version.name) < 0)
    .sort((a, b) => compareApiVersions(a.name, b.name))[0];
  const text = `${group}/${version.name} ${kind} is deprecated`;
  return better === undefined ? text : `${text}; use ${group}/${better.name} ${kind}`;
}

function columnsOf(version: CrdVersion): PrinterColumn[] {
  const columns = version.additionalPrinterColumns ?? [];
  if (columns.length === 0) return [NAME, AGE];
  return [
    NAME,
    ...columns.map(
      (column): PrinterColumn => ({
        name: column.name,
        type: column.type as PrinterColumn["type"],
        format: column.format,
        description: column.description ?? `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
        priority: column.priority,
        value: column.jsonPath,
      }),
    ),
  ];
}

function fieldSelectorsOf(version: CrdVersion): ResourceType["fieldSelectors"] {
  const selectors: Record<string, (object: Unstructured) => string> = {};
  for (const { jsonPath } of version.selectableFields ?? []) {
    const path = compileJsonPath(jsonPath);
    selectors[jsonPath.replace(/^\./, "")] = (object) => selectorText(path.first(object));
  }
  return selectors;
}

/** An absent selectable field selects as the empty string. */
function selectorText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
