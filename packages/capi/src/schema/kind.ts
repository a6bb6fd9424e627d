import type { JSONSchemaProps, ObjectMeta, Unstructured } from "@capstan/apimachinery";
import type { Infer, Schema } from "./schema.ts";

/** Cluster API labels of a CRD: which contract versions its API versions implement. */
const CONTRACT_LABEL_PREFIX = "cluster.x-k8s.io/";

/** A column of `kubectl get`, as in additionalPrinterColumns of a CRD. */
export interface PrinterColumnDefinition {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  jsonPath: string;
  description?: string;
  priority?: number;
}

/** One served version of a kind. */
export interface KindVersion {
  name: string;
  /** The schema of everything but apiVersion, kind and metadata: spec, status and other top-level fields. */
  schema: Schema;
  columns?: PrinterColumnDefinition[];
  deprecated?: string;
  selectableFields?: string[];
  /** Required for every version that is not the stored one. */
  convert?: VersionConverter;
}

/** Returns the apiVersion to write into a reference of an older API version; references in the stored version have none. */
export type ApiVersionLookup = (group: string, kind: string) => string;

/** Converts between one version and the stored one (the hub) without loss. Both functions may modify the object they are given. */
export interface VersionConverter {
  toStored(object: Unstructured, apiVersionOf?: ApiVersionLookup): Unstructured;
  fromStored(object: Unstructured, apiVersionOf?: ApiVersionLookup): Unstructured;
}

/** What `defineKind` needs: names, schema, versions and admission rules of a kind. */
export interface KindOptions<S extends Schema> {
  group: string;
  kind: string;
  plural: string;
  singular?: string;
  shortNames?: string[];
  categories?: string[];
  scope?: "Namespaced" | "Cluster";
  /** The stored version: the one the TypeScript type describes. */
  version: string;
  /** An object schema with `spec`, `status`, … */
  schema: S;
  columns?: PrinterColumnDefinition[];
  selectableFields?: string[];
  status?: boolean;
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  /** Older served versions. */
  others?: KindVersion[];
  /** Contract label values, e.g. `{ v1beta2: "v1beta2" }`. */
  contracts?: Record<string, string>;
  labels?: Record<string, string>;
  /** Checks and defaults beyond the schema, run as admission (in process or as a webhook). */
  admission?: KindAdmission<KindObject<Infer<S>>>;
  doc: string;
}

/** A whole object of a kind. */
export type KindObject<Body> = { apiVersion: string; kind: string; metadata: ObjectMeta } & Body;

/** Defaults and validation of a kind beyond its schema. Functions see the stored version; returned problems reject the request. */
export interface KindAdmission<T> {
  /** Fills defaults in place. */
  default?(object: T, old: T | undefined): void;
  /** Fills in defaults that depend on other objects, in place; runs after `default`. */
  complete?(object: T, lookup: AdmissionLookup): Promise<void>;
  /** Validates an object without reading others. `dryRun`: the request changes nothing. */
  validate?(object: T, old: T | undefined, request?: { readonly dryRun: boolean }): AdmissionProblem[];
  validateDelete?(object: T): AdmissionProblem[];
  /** Checks that need other objects; run after `validate` found nothing. */
  check?(object: T, old: T | undefined, lookup: AdmissionLookup): Promise<AdmissionProblem[]>;
  checkDelete?(object: T, lookup: AdmissionLookup): Promise<AdmissionProblem[]>;
  /** Whether the rules check the number of replicas, so that they must run for the scale subresource too. */
  checksReplicas?: true;
  /** Fields whose reference may name another namespace if the target grants it, which `check` decides. All others must stay in theirs. */
  grantedReferences?: readonly string[];
  /** Returns warnings that the client of an accepted request receives. */
  warnings?(object: T, lookup: AdmissionLookup): Promise<string[]>;
}

/** Reads other objects, in their stored version, for admission checks. */
export interface AdmissionLookup {
  get(kind: AdmissionKind, namespace: string, name: string): Promise<Unstructured | undefined>;
  list(kind: AdmissionKind, namespace?: string): Promise<readonly Unstructured[]>;
}

/** Identifies a kind in an AdmissionLookup. */
export interface AdmissionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** One reason to reject an object, as a field error. */
export interface AdmissionProblem {
  type:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueForbidden"
    | "FieldValueNotSupported"
    | "FieldValueDuplicate";
  field: string;
  value?: unknown;
  detail: string;
}

/** A kind with its names, CRD and admission rules; can be passed to clients wherever the runtime expects a `Kind<T>`. */
export interface KindDefinition<T extends KindObject<object>> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly apiVersion: string;
  readonly doc: string;
  readonly versions: readonly KindVersion[];
  readonly admission: KindAdmission<T> | undefined;
  /** The CustomResourceDefinition, built on the first call. */
  crd(): Unstructured;
  /** Never set: carries the type. */
  readonly __type?: T;
}

/** The TypeScript type of a kind's objects: `type Cluster = ObjectOf<typeof Cluster>`. */
export type ObjectOf<K> = K extends { readonly __type?: infer T } ? NonNullable<T> : never;

/** Defines a kind; its TypeScript type, CRD and API reference are all derived from this definition. */
export function defineKind<S extends Schema>(options: KindOptions<S>): KindDefinition<KindObject<Infer<S>>> {
  const stored: KindVersion = {
    name: options.version,
    schema: options.schema,
    columns: options.columns,
    selectableFields: options.selectableFields,
  };
  const versions = [stored, ...(options.others ?? [])];
  let made: Unstructured | undefined;
  return {
    group: options.group,
    version: options.version,
    kind: options.kind,
    plural: options.plural,
    namespaced: (options.scope ?? "Namespaced") === "Namespaced",
    apiVersion: `${options.group}/${options.version}`,
    doc: options.doc,
    versions,
    admission: options.admission,
    crd: () => {
      made ??= buildCrd(options, versions);
      return made;
    },
  };
}

function buildCrd<S extends Schema>(options: KindOptions<S>, versions: readonly KindVersion[]): Unstructured {
  const contractLabels = Object.fromEntries(
    Object.entries(options.contracts ?? {}).map(([contract, served]) => [
      `${CONTRACT_LABEL_PREFIX}${contract}`,
      served,
    ]),
  );
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${options.plural}.${options.group}`, labels: { ...contractLabels, ...options.labels } },
    spec: {
      group: options.group,
      scope: options.scope ?? "Namespaced",
      names: {
        kind: options.kind,
        listKind: `${options.kind}List`,
        plural: options.plural,
        singular: options.singular ?? options.kind.toLowerCase(),
        shortNames: options.shortNames,
        categories: options.categories ?? ["cluster-api"],
      },
      conversion: { strategy: "None" },
      versions: versions.map((version, index) => crdVersion(options, version, index === 0)),
    },
  };
}

function crdVersion<S extends Schema>(options: KindOptions<S>, version: KindVersion, stored: boolean): object {
  const subresources = {
    ...(options.status === false ? {} : { status: {} }),
    ...(options.scale === undefined ? {} : { scale: options.scale }),
  };
  return {
    name: version.name,
    served: true,
    storage: stored,
    ...(version.deprecated === undefined ? {} : { deprecated: true, deprecationWarning: version.deprecated }),
    schema: { openAPIV3Schema: rootSchema(options.doc, version.schema.json) },
    ...(Object.keys(subresources).length === 0 ? {} : { subresources }),
    additionalPrinterColumns: version.columns,
    ...(version.selectableFields === undefined
      ? {}
      : { selectableFields: version.selectableFields.map((jsonPath) => ({ jsonPath })) }),
  };
}

function rootSchema(doc: string, body: JSONSchemaProps): JSONSchemaProps {
  return {
    ...body,
    description: doc,
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      ...body.properties,
    },
  };
}
