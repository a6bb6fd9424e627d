import { deepEqual, type KubeObject } from "@capstan/apimachinery";
import { INFRASTRUCTURE_GROUP, TOPOLOGY_DRY_RUN_ANNOTATION } from "../contract/constants.ts";
import type { FailureDomain, MachineAddress } from "../contract/types.ts";
import { mapToList } from "../conversion/codecs.ts";
import { OLD_CONDITIONS } from "../conversion/old-conditions.ts";
import { move, type Rule, recode } from "../conversion/rules.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { controlPlaneEndpoint } from "../kinds/cluster.ts";
import { machineAddresses } from "../kinds/machine.ts";
import { condition, failureDomain, templateMetadata } from "../schema/common.ts";
import {
  type AdmissionProblem,
  defineKind,
  type KindAdmission,
  type KindDefinition,
  type KindObject,
  type KindVersion,
  type PrinterColumnDefinition,
} from "../schema/kind.ts";
import { array, boolean, type Infer, map, object, optional, type Schema, string } from "../schema/schema.ts";

type Fields = Record<string, Schema>;

/** Spec fields of every infrastructure machine. */
export interface InfraMachineObject extends KubeObject {
  spec?: { providerID?: string };
  status?: {
    conditions?: Infer<typeof condition>[];
    initialization?: { provisioned?: boolean };
    addresses?: MachineAddress[];
    failureDomain?: string;
  };
}

/** Spec fields of every infrastructure cluster. */
export interface InfraClusterObject extends KubeObject {
  spec?: { controlPlaneEndpoint?: { host?: string; port?: number } };
  status?: {
    conditions?: Infer<typeof condition>[];
    initialization?: { provisioned?: boolean };
    failureDomains?: FailureDomain[];
  };
}

/** Options of a standard infrastructure kind: only what differs between providers. */
export interface InfraKindOptions<F extends Fields> {
  kind: string;
  doc: string;
  /** Fields of spec in addition to those of the contract. */
  spec: F;
  version?: string;
  group?: string;
  shortNames?: string[];
  /** Labels of the CRD, such as `cluster.x-k8s.io/provider`. */
  labels?: Record<string, string>;
  columns?: PrinterColumnDefinition[];
  /** Serves v1beta1 as well, so that manifests written for it work: same spec, the older contract's status. */
  alsoV1beta1?: boolean;
  /** Differences of v1beta1 beyond those of the contract. */
  rules?: readonly Rule[];
  /** Fields of spec that may change later; all others of a machine need a new machine. */
  mutable?: readonly (keyof F & string)[];
  /** Checks and defaults of the provider's own. */
  admission?: Pick<KindAdmission<KubeObject>, "default" | "validate">;
}

/** A kind with more status fields than the contract. */
export interface InfraStatusOptions<S extends Fields> {
  /** Fields of status in addition to those of the contract. */
  status?: S;
}

/** A template with more fields than the spec of its objects. */
export interface TemplateOptions<O extends Fields> {
  /** Fields of spec in addition to `template`. */
  beside?: O;
}

const conditions = array(condition, {
  doc: "Conditions of the object.",
  listType: "map",
  keys: ["type"],
  maxItems: 32,
});
const initialization = object(
  { provisioned: optional(boolean({ doc: "True once the object was provisioned; it never becomes false again." })) },
  { doc: "Milestones of the first provisioning.", minProperties: 1 },
);

const clusterFields = { controlPlaneEndpoint: optional(controlPlaneEndpoint) };
const clusterStatus = {
  conditions: optional(conditions),
  initialization: optional(initialization),
  failureDomains: optional(
    array(failureDomain, {
      doc: "Failure domains that the provider offers.",
      listType: "map",
      keys: ["name"],
      maxItems: 100,
    }),
  ),
};

const machineFields = {
  providerID: optional(
    string({ doc: "Identifies the machine; its Node has the same ID.", minLength: 1, maxLength: 512 }),
  ),
};
const machineStatus = {
  conditions: optional(conditions),
  initialization: optional(initialization),
  addresses: optional(machineAddresses),
  failureDomain: optional(string({ doc: "Actual failure domain of the machine.", minLength: 1, maxLength: 256 })),
};

const templateStatus = object(
  {
    capacity: optional(map(string(), { doc: "Capacity of a machine of this template, for scaling up from zero." })),
  },
  { doc: "Observed state of the template." },
);

/** Status fields that the contracts name differently. */
const OLD_STATUS: readonly Rule[] = [move("status.ready", "status.initialization.provisioned"), ...OLD_CONDITIONS];

const CLUSTER_COLUMN: PrinterColumnDefinition = {
  name: "Cluster",
  type: "string",
  jsonPath: String.raw`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`,
};
const READY_COLUMN: PrinterColumnDefinition = {
  name: "Ready",
  type: "string",
  jsonPath: ".status.conditions[?(@.type=='Ready')].status",
};
const REASON_COLUMN: PrinterColumnDefinition = {
  name: "Reason",
  type: "string",
  jsonPath: ".status.conditions[?(@.type=='Ready')].reason",
};
const AGE_COLUMN: PrinterColumnDefinition = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** Defines an infrastructure cluster with the fields, columns and labels of the contract. */
export function infraClusterKind<F extends Fields, S extends Fields = Record<never, never>>(
  options: InfraKindOptions<F> & InfraStatusOptions<S>,
) {
  const schema = object({
    spec: optional(object({ ...clusterFields, ...options.spec }, { doc: `Desired state of the ${options.kind}.` })),
    status: optional(
      object({ ...clusterStatus, ...(options.status as S) }, { doc: `Observed state of the ${options.kind}.` }),
    ),
  });
  return defineKind({
    ...common(options),
    ...olderVersion(options, schema, [...OLD_STATUS, recode("status.failureDomains", mapToList())]),
    schema,
    columns: [CLUSTER_COLUMN, READY_COLUMN, REASON_COLUMN, ...(options.columns ?? []), AGE_COLUMN],
    ...(options.admission === undefined ? {} : { admission: options.admission }),
  });
}

/** Defines an infrastructure machine; its spec never changes but for the provider ID and what `mutable` names. */
export function infraMachineKind<F extends Fields, S extends Fields = Record<never, never>>(
  options: InfraKindOptions<F> & InfraStatusOptions<S>,
) {
  const mutable = new Set<string>(["providerID", ...(options.mutable ?? [])]);
  const schema = object({
    spec: optional(object({ ...machineFields, ...options.spec }, { doc: `Desired state of the ${options.kind}.` })),
    status: optional(
      object({ ...machineStatus, ...(options.status as S) }, { doc: `Observed state of the ${options.kind}.` }),
    ),
  });
  return defineKind({
    ...common(options),
    ...olderVersion(options, schema, OLD_STATUS),
    schema,
    columns: [
      CLUSTER_COLUMN,
      READY_COLUMN,
      REASON_COLUMN,
      { name: "ProviderID", type: "string", jsonPath: ".spec.providerID" },
      ...(options.columns ?? []),
      AGE_COLUMN,
    ],
    admission: {
      ...options.admission,
      validate: (object: KubeObject, old: KubeObject | undefined, request?: { readonly dryRun: boolean }) => {
        const fixed =
          old === undefined || deepEqual(fixedPart(specOf(object), mutable), fixedPart(specOf(old), mutable))
            ? []
            : immutable(object, request, "spec", `change its template instead, which replaces machines one by one`);
        return [...fixed, ...(options.admission?.validate?.(object, old, request) ?? [])];
      },
    },
  });
}

/** Defines the template of an infrastructure kind: `spec.template` with metadata and the fields of the kind, immutable. */
export function templateKind<F extends Fields, O extends Fields = Record<never, never>>(
  options: InfraKindOptions<F> & TemplateOptions<O>,
) {
  const mutable = new Set<string>(options.mutable ?? []);
  const schema = object({
    spec: object(
      {
        template: object(
          {
            metadata: optional(templateMetadata),
            spec: object(options.spec, { doc: "Desired state of the objects." }),
          },
          { doc: "Template that objects are created from." },
        ),
        ...(options.beside as O),
      },
      { doc: `Desired state of the ${options.kind}.` },
    ),
    status: optional(templateStatus),
  });
  return defineKind({
    ...common(options),
    ...olderVersion(options, schema, []),
    schema,
    columns: [...(options.columns ?? []), AGE_COLUMN],
    admission: {
      ...options.admission,
      validate: (object: KubeObject, old: KubeObject | undefined, request?: { readonly dryRun: boolean }) => {
        const fixed =
          old === undefined ||
          deepEqual(fixedPart(templateSpec(object), mutable), fixedPart(templateSpec(old), mutable))
            ? []
            : immutable(object, request, "spec.template.spec", `create another ${options.kind} and refer to that one`);
        return [...fixed, ...(options.admission?.validate?.(object, old, request) ?? [])];
      },
    },
  });
}

function common<F extends Fields>(options: InfraKindOptions<F>) {
  const version = options.version ?? "v1beta2";
  return {
    group: options.group ?? INFRASTRUCTURE_GROUP,
    version,
    kind: options.kind,
    // Core finds CRDs by this rule.
    plural: `${options.kind.toLowerCase()}s`,
    doc: options.doc,
    contracts: { ...(options.alsoV1beta1 === true ? { v1beta1: "v1beta1" } : {}), v1beta2: version },
    shortNames: options.shortNames,
    labels: options.labels,
  };
}

function olderVersion<F extends Fields>(
  options: InfraKindOptions<F>,
  schema: Schema,
  rules: readonly Rule[],
): { others?: KindVersion[] } {
  if (options.alsoV1beta1 !== true) return {};
  const columns = options.columns ?? [];
  const all = [...(options.rules ?? []), ...rules];
  return { others: [v1beta1(options.group ?? INFRASTRUCTURE_GROUP, options.kind, schema, { rules: all, columns })] };
}

function fixedPart(spec: Record<string, unknown>, mutable: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !mutable.has(name)));
}

function specOf(object: KubeObject): Record<string, unknown> {
  return (object as { spec?: Record<string, unknown> }).spec ?? {};
}

function templateSpec(object: KubeObject): Record<string, unknown> {
  return (object as { spec?: { template?: { spec?: Record<string, unknown> } } }).spec?.template?.spec ?? {};
}

/** Refuses a change, unless it is a dry run by which a topology asks what the change would do. */
function immutable(
  object: KubeObject,
  request: { readonly dryRun: boolean } | undefined,
  field: string,
  cure: string,
): AdmissionProblem[] {
  if (request?.dryRun === true && object.metadata.annotations?.[TOPOLOGY_DRY_RUN_ANNOTATION] !== undefined) return [];
  return [{ type: "FieldValueForbidden", field, detail: `${object.kind} ${field} is immutable: ${cure}` }];
}

/** A kind whatever its objects look like, as lists of kinds hold them. */
export type AnyKindDefinition = Omit<KindDefinition<KindObject<object>>, "admission" | "__type">;
